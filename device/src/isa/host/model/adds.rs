//! The model of bins in shared memory: between two barriers threads add to them, or access them by
//! ordinary loads and stores.
//!
//! Adds are atomic, so they race with no add. They race with ordinary accesses.

use super::proxies::Ranges;

/// What threads have done to shared memory since the last barrier.
pub(super) struct Adds {
    /// Bins that were added to, each as a whole.
    added: Ranges,
    /// Bins that are read.
    read: Ranges,
    /// What was written by ordinary stores.
    written: Ranges,
}

impl Adds {
    pub(super) const fn new() -> Self {
        Adds { added: Ranges::new(), read: Ranges::new(), written: Ranges::new() }
    }

    /// A barrier of all threads that access the bins; or all is forgotten.
    pub(super) fn clear(&mut self) {
        self.added.clear();
        self.read.clear();
        self.written.clear();
    }

    /// Takes over those of a role at its end.
    pub(super) fn absorb(&mut self, role: &mut Adds) {
        self.added.append(&mut role.added);
        self.read.append(&mut role.read);
        self.written.append(&mut role.written);
    }

    /// A thread adds to one of these bins.
    pub(super) fn add(&mut self, first: usize, bytes: usize) {
        assert!(
            !self.read.overlap(first, bytes),
            "race: an add to bins that other threads may still be reading (no barrier since)"
        );
        assert!(
            !self.written.overlap(first, bytes),
            "race: an add to bins that other threads may still be storing to (no barrier since)"
        );
        self.added.add(first, bytes);
    }

    /// Threads read these bins.
    pub(super) fn read(&mut self, first: usize, bytes: usize) {
        self.check(first, bytes, "a read of");
        self.read.add(first, bytes);
    }

    /// A thread writes these bytes by an ordinary store.
    pub(super) fn write(&mut self, first: usize, bytes: usize) {
        self.check(first, bytes, "a store to");
        assert!(
            !self.read.overlap(first, bytes),
            "race: a store to bins that other threads may still be reading (no barrier since)"
        );
        self.written.add(first, bytes);
    }

    /// Refuses an access to bins that were added to.
    pub(super) fn check(&self, first: usize, bytes: usize, what: &str) {
        assert!(
            !self.added.overlap(first, bytes),
            "race: {what} bins that other threads may still be adding to (no barrier since)"
        );
    }
}
