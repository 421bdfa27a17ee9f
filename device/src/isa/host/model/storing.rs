//! Bulk stores of a block or of one of its roles, as its threads start them and wait for them.

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
        unsafe { self.own_stores().store_box(from, tensor, at, shape, how) };
        self.started_a_store();
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
        unsafe { self.own_stores().store_bulk(from, to, bytes) };
        self.started_a_store();
    }

    /// Closes the group of bulk stores.
    pub(in crate::isa::host) fn commit_stores(&mut self) {
        self.own_stores().commit();
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

    /// Those of the thread whose code runs; of code of all threads, those that nobody else waits
    /// for.
    fn own_stores(&mut self) -> &mut Stores {
        self.stores.entry(current_thread().unwrap_or(u32::MAX)).or_insert_with(Stores::new)
    }

    /// Those that the thread whose code runs waits for; in code of all threads, each its own.
    fn waiting_stores(&mut self) -> impl Iterator<Item = &mut Stores> {
        let thread = current_thread();
        self.stores
            .iter_mut()
            .filter_map(move |(of, stores)| thread.is_none_or(|thread| *of == thread).then_some(stores))
    }

    fn started_a_store(&mut self) {
        let Model { stores, schedule, random, .. } = self;
        let thread = current_thread().unwrap_or(u32::MAX);
        stores.entry(thread).or_insert_with(Stores::new).started(*schedule, random);
    }

    /// Has the engine go on with its stores, or not.
    pub(super) fn stores_go_on(&mut self) {
        if let Schedule::Random { .. } = self.schedule {
            self.stores.values_mut().for_each(|stores| stores.go_on(&mut self.random));
        }
    }
}
