//! Bulk stores of a block or of one of its roles, as its threads start them and wait for them.

use std::collections::BTreeMap;

use super::Model;
use super::stores::Stores;
use crate::isa::host::Schedule;
use crate::isa::host::block::current_thread;
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
        unsafe { own(&mut self.stores).store_box(from, tensor, at, shape, how) };
        self.store_started();
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
        unsafe { own(&mut self.stores).store_bulk(from, to, bytes) };
        self.store_started();
    }

    /// Closes the group of bulk stores.
    pub(in crate::isa::host) fn commit_stores(&mut self) {
        own(&mut self.stores).commit();
        self.stores_go_on();
    }

    /// Waits until the engine has read the sources of all but the youngest `groups` groups.
    pub(in crate::isa::host) fn wait_stores_read(&mut self, groups: usize) {
        self.waiting_stores().for_each(|stores| stores.wait_read(groups));
        self.stores_go_on();
    }

    /// Waits until all bulk stores are written.
    pub(in crate::isa::host) fn wait_stores_written(&mut self) {
        self.waiting_stores().for_each(Stores::wait_written);
    }

    /// Refuses a write to memory that a store of any thread has not read yet.
    pub(super) fn check_stores(&self, first: usize, bytes: usize) {
        self.stores.values().for_each(|stores| stores.check(first, bytes));
    }

    /// Those that the thread whose code runs waits for; in code of all threads, each its own.
    fn waiting_stores(&mut self) -> impl Iterator<Item = &mut Stores> {
        let thread = current_thread();
        self.stores
            .iter_mut()
            .filter_map(move |(of, stores)| thread.is_none_or(|thread| *of == thread).then_some(stores))
    }

    /// Does what the schedule says right after a store was started.
    fn store_started(&mut self) {
        own(&mut self.stores).started(self.schedule, &mut self.random);
    }

    /// Has the engine go on with its stores, or not.
    pub(super) fn stores_go_on(&mut self) {
        if let Schedule::Random { .. } = self.schedule {
            self.stores.values_mut().for_each(|stores| stores.go_on(&mut self.random));
        }
    }
}

/// Those of the thread whose code runs; of code of all threads, those that nobody else waits for.
fn own(stores: &mut BTreeMap<u32, Stores>) -> &mut Stores {
    stores.entry(current_thread().unwrap_or(u32::MAX)).or_insert_with(Stores::new)
}
