//! Bulk stores of a block or of one of its roles, as its threads start them and wait for them.

use super::Model;
use crate::isa::host::Schedule;
use crate::isa::{BoxShape, Corner, ElementKind, RawTensor, Reduce};

impl Model {
    /// Starts to store the box at `from` to a tensor, by the engine, or to combine it with what is
    /// there.
    ///
    /// # Safety
    ///
    /// The box's bytes are readable until the block ends, and `tensor` says where rows lie that
    /// only this launch writes.
    pub(in crate::isa::host) unsafe fn store_box(
        &mut self,
        from: *const u8,
        tensor: &RawTensor,
        at: Corner,
        shape: BoxShape,
        how: Option<(Reduce, ElementKind)>,
    ) {
        self.accesses.check_source(from.addr(), shape.bytes());
        // SAFETY: the caller's promises.
        unsafe { self.stores.store_box(from, tensor, at, shape, how) };
        self.stores.started(self.schedule, &mut self.random);
    }

    /// Starts to store `bytes` bytes in a row, whole pieces, by the engine.
    ///
    /// # Safety
    ///
    /// They are readable at `from` until the block ends, and `to` is writable for them, which only
    /// this launch writes.
    pub(in crate::isa::host) unsafe fn store_bulk(&mut self, from: *const u8, to: *mut u8, bytes: usize) {
        self.accesses.check_source(from.addr(), bytes);
        // SAFETY: the caller's promises.
        unsafe { self.stores.store_bulk(from, to, bytes) };
        self.stores.started(self.schedule, &mut self.random);
    }

    /// Closes the group of bulk stores.
    pub(in crate::isa::host) fn commit_stores(&mut self) {
        self.stores.commit();
        self.stores_go_on();
    }

    /// Waits until the engine has read the sources of all but the youngest `groups` groups.
    pub(in crate::isa::host) fn wait_stores_read(&mut self, groups: usize) {
        self.stores.wait_read(groups);
        self.stores_go_on();
    }

    /// Waits until all bulk stores are written.
    pub(in crate::isa::host) fn wait_stores_written(&mut self) {
        self.stores.wait_written();
    }

    /// Has the engine go on with its stores, or not.
    pub(super) fn stores_go_on(&mut self) {
        if let Schedule::Random { .. } = self.schedule {
            self.stores.go_on(&mut self.random);
        }
    }
}
