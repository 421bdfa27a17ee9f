//! The memory model of asynchronous copies: what is in flight, what has landed, what may still be
//! read.

use std::collections::{BTreeMap, VecDeque};

use super::Schedule;
use super::random::Random;
use crate::isa::{BoxShape, Corner, RawTensor, Readers, swizzled};

mod adds;
mod multiplying;
mod products;
mod proxies;
pub(super) mod reductions;
mod stores;
mod storing;

use adds::Adds;
use products::Products;
pub(super) use products::{Left, Located, Product};
pub(super) use proxies::{Accesses, in_one_thread};
use stores::Stores;

/// The byte of memory in flight, of stale stages and of shared memory that nobody has written.
pub(crate) const POISON: u8 = 0xA5;

/// One unit of a copy: 4, 8 or 16 bytes, or a part of a bulk copy. Of its bytes the first `valid`
/// come from `from` and the others are zero.
///
/// # Invariants
///
/// 0. `to` is valid for writes of `width` bytes and `from` for reads of `valid <= width`, until the
///    block ends.
#[derive(Clone, Copy)]
pub(super) struct Unit {
    to: *mut u8,
    from: *const u8,
    valid: u32,
    width: u32,
}

// SAFETY: the invariant holds on every OS thread; of the threads of a block's roles only the one
// with the baton lands units or accesses the arena, and the mutex that the baton is passed under
// orders what they do.
unsafe impl Send for Unit {}

impl Unit {
    pub(super) fn land(self) {
        let (valid, width) = (self.valid as usize, self.width as usize);
        // SAFETY: `valid` bytes are readable and writable (0); global memory and the block's arena
        // don't overlap.
        unsafe { self.to.copy_from_nonoverlapping(self.from, valid) };
        // SAFETY: the rest of the unit's `width` bytes (0).
        let rest = unsafe { self.to.add(valid) };
        // SAFETY: the unit's bytes after the `valid` ones, `width` in all, are writable (0).
        unsafe { rest.write_bytes(0, width - valid) };
    }

    /// Whether the unit's destination has a byte in `bytes` bytes from `first` on.
    pub(super) fn overlaps(self, first: usize, bytes: usize) -> bool {
        self.to.addr() < first + bytes && first < self.to.addr() + self.width as usize
    }
}

/// Copies of one block or of one of its roles, as its threads see them.
///
/// A unit waits in the `open` group until the group is committed, then in `committed` until it is
/// waited for, then in `arrived` until a barrier makes it visible to the other threads. The lazy
/// schedule lands it there, the eager one at once, and the random one at any point in between.
/// Units of ordinary stores wait in `stored` for that barrier.
pub(crate) struct Model {
    schedule: Schedule,
    random: Random,
    open: Vec<Unit>,
    committed: VecDeque<Vec<Unit>>,
    arrived: Vec<Unit>,
    stored: Vec<Unit>,
    spare: Vec<Vec<Unit>>,
    /// Tiles that were released since the last barrier.
    readers: Vec<Released>,
    /// What the threads have accessed through the generic proxy.
    pub(super) accesses: Accesses,
    /// Bins that they add to.
    adds: Adds,
    /// Bulk stores, by the rank of the thread that starts them: a thread waits for its own.
    stores: BTreeMap<u32, Stores>,
    /// Products of the tensor cores.
    products: Products,
}

/// A released tile, which threads may go on reading.
///
/// # Invariants
///
/// 0. `first` is the start of a stage of `bytes` bytes in the block's shared memory, valid for
///    writes until the block ends. It is not written before the `readers`' next barrier, and what
///    it holds now is not read after that.
struct Released {
    first: *mut u8,
    bytes: usize,
    /// Whose barrier ends the reads.
    readers: Readers,
}

// SAFETY: the invariant holds on every OS thread; of the threads of a block's roles only the one
// with the baton accesses the arena, and the mutex that the baton is passed under orders what they
// do.
unsafe impl Send for Released {}

impl Model {
    pub(super) const fn new() -> Self {
        Model {
            schedule: Schedule::Lazy,
            random: Random::new(0),
            open: Vec::new(),
            committed: VecDeque::new(),
            arrived: Vec::new(),
            stored: Vec::new(),
            spare: Vec::new(),
            readers: Vec::new(),
            accesses: Accesses::new(),
            adds: Adds::new(),
            stores: BTreeMap::new(),
            products: Products::new(),
        }
    }

    /// Starts a block or a role.
    pub(super) fn begin(&mut self, schedule: Schedule, random: Random) {
        self.clear();
        self.schedule = schedule;
        self.random = random;
    }

    /// Forgets everything in flight.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.committed.clear();
        self.arrived.clear();
        self.stored.clear();
        self.readers.clear();
        self.accesses.clear();
        self.adds.clear();
        self.stores.clear();
        self.products.clear();
    }

    /// Takes over what a role has left in flight at its end.
    pub(super) fn absorb(&mut self, mut role: Model) {
        self.open.append(&mut role.open);
        self.committed.append(&mut role.committed);
        self.arrived.append(&mut role.arrived);
        self.stored.append(&mut role.stored);
        self.readers.append(&mut role.readers);
        self.accesses.absorb(&mut role.accesses);
        self.adds.absorb(&mut role.adds);
        for (thread, stores) in role.stores {
            self.stores.entry(thread).or_insert_with(Stores::new).absorb(stores);
        }
    }

    /// Takes all asynchronous copies out, for an mbarrier that they arrive at when they land.
    pub(super) fn take_copies(&mut self) -> Vec<Unit> {
        let mut copies = std::mem::take(&mut self.arrived);
        for group in &mut self.committed {
            copies.append(group);
        }
        copies.append(&mut self.open);
        copies
    }

    /// Poisons `bytes` bytes of the arena.
    pub(super) fn poison(&self, first: *mut u8, bytes: usize) {
        // SAFETY: called with the arena's start and a size that was just reserved.
        unsafe { first.write_bytes(POISON, bytes) };
    }

    /// Starts an asynchronous copy of one unit.
    ///
    /// # Safety
    ///
    /// The invariant of [`Unit`] holds, and nobody accesses the unit's destination before a wait
    /// and a barrier.
    pub(super) unsafe fn copy(&mut self, to: *mut u8, from: *const u8, valid: u32, width: u32) {
        self.check_free(to, width as usize);
        self.accesses.touch(to.addr(), width as usize);
        let unit = Unit { to, from, valid, width };
        let delayed = match self.schedule {
            Schedule::Eager => false,
            Schedule::Lazy => true,
            Schedule::Random { .. } => self.random.draw(2) == 0,
        };
        if !delayed {
            return unit.land();
        }
        // SAFETY: the destination is writable, and nobody accesses it before the copy has landed.
        unsafe { unit.to.write_bytes(POISON, unit.width as usize) };
        self.open.push(unit);
        if self.schedule != Schedule::Lazy && self.random.draw(4) == 0 {
            self.land_one();
        }
    }

    /// Stores one element, visible to the other threads after the next barrier.
    ///
    /// # Safety
    ///
    /// As for [`copy`](Self::copy).
    pub(super) unsafe fn store(&mut self, to: *mut u8, from: *const u8, valid: u32, width: u32) {
        self.check_free(to, width as usize);
        self.accesses.touch(to.addr(), width as usize);
        let unit = Unit { to, from, valid, width };
        match self.schedule {
            Schedule::Eager => unit.land(),
            _ => self.stored.push(unit),
        }
    }

    /// Divides a bulk copy into parts, each of which lands for itself.
    ///
    /// # Safety
    ///
    /// The invariant of [`Unit`] holds for all `bytes` of them, and nobody accesses the destination
    /// before the copy has landed.
    pub(super) unsafe fn copy_bulk(&mut self, to: *mut u8, from: *const u8, bytes: u32) -> Vec<(Vec<Unit>, u32)> {
        // SAFETY: the caller's promises.
        unsafe { self.check_bulk(to, bytes as usize) };
        let mut parts = Vec::new();
        let mut done = 0;
        while done < bytes {
            let left = (bytes - done) / 16;
            let units = match self.schedule {
                Schedule::Random { .. } => 1 + self.random.draw(u64::from(left)) as u32,
                _ => left,
            };
            let width = 16 * units;
            let (to, from) = (to.wrapping_add(done as usize), from.wrapping_add(done as usize));
            parts.push((vec![Unit { to, from, valid: width, width }], width));
            done += width;
        }
        parts
    }

    /// Checks the destination of a copy by the engine, and poisons it.
    ///
    /// # Safety
    ///
    /// It is valid for writes, and nobody accesses it before the copy has landed.
    unsafe fn check_bulk(&mut self, to: *mut u8, bytes: usize) {
        self.check_free(to, bytes);
        self.accesses.check(to.addr(), bytes);
        if self.schedule != Schedule::Eager {
            // SAFETY: the caller's promises.
            unsafe { to.write_bytes(POISON, bytes) };
        }
    }

    /// Divides the copy of a tensor's box into its rows, each of which lands for itself.
    ///
    /// # Safety
    ///
    /// The destination is as for [`copy_bulk`](Self::copy_bulk), for all bytes of the box; `tensor`
    /// says where readable rows lie.
    pub(super) unsafe fn copy_box(
        &mut self,
        to: *mut u8,
        tensor: &RawTensor,
        corner: Corner,
        shape: BoxShape,
    ) -> Vec<(Vec<Unit>, u32)> {
        let BoxShape { element, mask, .. } = shape;
        let columns = shape.columns();
        // SAFETY: the caller's promises.
        unsafe { self.check_bulk(to, shape.bytes()) };
        let row = |row: u32| {
            let line = tensor.line(corner, shape, row);
            let unit = |column: u32| {
                let offset = ((row * columns + column) * element) as usize;
                let to = to.wrapping_add(swizzled(offset, mask as usize));
                let x = i64::from(corner[0]) + i64::from(column);
                let line = line.filter(|_| (0..i64::from(tensor.columns)).contains(&x));
                let from = line.map(|line| line + x as u64 * u64::from(element));
                let valid = if from.is_some() { element } else { 0 };
                Unit { to, from: from.unwrap_or_default() as *const u8, valid, width: element }
            };
            ((0..columns).map(unit).collect(), columns * element)
        };
        (0..shape.rows()).map(row).collect()
    }

    /// Notes a thread's access to shared memory by an ordinary store.
    pub(super) fn written(&mut self, first: usize, bytes: usize) {
        self.check_stores(first, bytes);
        self.products.check(first, bytes);
        self.adds.write(first, bytes);
        self.accesses.touch(first, bytes);
    }

    /// Notes that a thread adds to one of these bins.
    pub(super) fn added(&mut self, first: usize, bytes: usize) {
        self.check_stores(first, bytes);
        self.adds.add(first, bytes);
        self.accesses.touch(first, bytes);
    }

    /// Notes that threads read these bins until the next barrier.
    pub(super) fn read_bins(&mut self, first: usize, bytes: usize) {
        self.adds.read(first, bytes);
        self.accesses.touch(first, bytes);
    }

    /// Ends the block, which has not failed.
    pub(super) fn end(&mut self) {
        self.stores.values_mut().for_each(Stores::end);
    }

    /// Closes the open group.
    pub(super) fn commit(&mut self) {
        let next = self.spare.pop().unwrap_or_default();
        self.committed.push_back(std::mem::replace(&mut self.open, next));
    }

    /// Waits for all but the youngest `groups` groups, in every thread for its own copies.
    pub(super) fn wait(&mut self, groups: usize) {
        while self.committed.len() > groups {
            let Some(mut group) = self.committed.pop_front() else {
                break;
            };
            self.arrived.append(&mut group);
            self.spare.push(group);
        }
    }

    /// Makes what was waited for visible, and ends all reads of released tiles.
    pub(super) fn barrier(&mut self) {
        self.land_arrived();
        self.stores_go_on();
        self.accesses.barrier();
        self.adds.clear();
        self.end_reads(|_| true);
    }

    /// Makes what was waited for visible, and ends the reads of tiles that only a warp reads.
    pub(super) fn warp_barrier(&mut self) {
        self.land_arrived();
        self.accesses.barrier();
        self.end_reads(|readers| readers == Readers::Warp);
    }

    /// Makes what was waited for visible.
    pub(super) fn land_arrived(&mut self) {
        for unit in self.arrived.drain(..).chain(self.stored.drain(..)) {
            unit.land();
        }
    }

    /// Notes a released tile.
    ///
    /// # Safety
    ///
    /// The invariant of [`Released`] holds.
    pub(super) unsafe fn released(&mut self, first: *const u8, bytes: usize, readers: Readers) {
        self.accesses.touch(first.addr(), bytes);
        self.readers.push(Released { first: first.cast_mut(), bytes, readers });
    }

    /// Poisons the released tiles whose reads have ended.
    fn end_reads(&mut self, ended: impl Fn(Readers) -> bool) {
        let poisons = self.schedule != Schedule::Eager;
        self.readers.retain(|released| {
            let ends = ended(released.readers);
            if ends && poisons {
                // SAFETY: the bytes are valid for writes, and after this barrier no thread reads
                // what they hold (0). Nothing has been written there up to this barrier.
                unsafe { released.first.write_bytes(POISON, released.bytes) };
            }
            !ends
        });
    }

    /// Lands a unit of the open group early. (Landing it twice does no harm: nobody writes its
    /// source.)
    fn land_one(&mut self) {
        let index = self.random.draw(self.open.len() as u64);
        if let Some(unit) = self.open.get(index as usize) {
            unit.land();
        }
    }

    /// Refuses a copy into tiles that threads, or the copy engine, may still be reading.
    fn check_free(&self, to: *mut u8, width: usize) {
        let first = to.addr();
        self.check_stores(first, width);
        self.products.check(first, width);
        self.adds.check(first, width, "a copy into");
        for released in &self.readers {
            let start = released.first.addr();
            assert!(
                first + width <= start || start + released.bytes <= first,
                "race: a copy into a tile that other threads may still be reading (no barrier since its release)"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source of 16 bytes and a destination of 32, under a schedule.
    fn with_model(schedule: Schedule, test: impl FnOnce(&mut Model, *const u8, *mut u8)) {
        let source: [u8; 16] = core::array::from_fn(|index| index as u8 + 1);
        let mut destination = [0_u8; 32];
        let mut model = Model::new();
        model.begin(schedule, Random::of(schedule, 0));
        test(&mut model, source.as_ptr(), destination.as_mut_ptr());
    }

    fn release(model: &mut Model, tile: *const u8) {
        // SAFETY: tests pass a pointer to 16 bytes that are valid while the test runs, and read
        // them between the steps only.
        unsafe { model.released(tile, 16, Readers::Block) };
    }

    fn bytes(first: *const u8) -> [u8; 16] {
        // SAFETY: tests pass a pointer to 16 initialised bytes.
        unsafe { first.cast::<[u8; 16]>().read() }
    }

    fn copy(model: &mut Model, to: *mut u8, from: *const u8, valid: u32) {
        // SAFETY: both pointers are valid for 16 bytes while the test runs, and it reads them
        // between the steps only.
        unsafe { model.copy(to, from, valid, 16) };
    }

    #[test]
    fn a_lazy_copy_is_poison_until_the_barrier_after_its_wait() {
        with_model(Schedule::Lazy, |model, from, to| {
            copy(model, to, from, 16);
            model.barrier();
            assert_eq!(bytes(to), [POISON; 16], "a barrier alone lands nothing");
            model.commit();
            model.wait(0);
            assert_eq!(bytes(to), [POISON; 16], "a wait is for the thread's own copies");
            model.barrier();
            assert_eq!(bytes(to), bytes(from));
        });
    }

    #[test]
    fn a_wait_for_all_but_one_group_leaves_the_youngest_in_flight() {
        with_model(Schedule::Lazy, |model, from, to| {
            let second = to.wrapping_add(16);
            copy(model, to, from, 16);
            model.commit();
            copy(model, second, from, 16);
            model.commit();
            model.wait(1);
            model.barrier();
            assert_eq!((bytes(to), bytes(second)), (bytes(from), [POISON; 16]));
        });
    }

    #[test]
    fn an_eager_copy_lands_at_once_and_zeroes_what_is_not_valid() {
        with_model(Schedule::Eager, |model, from, to| {
            copy(model, to, from, 3);
            assert_eq!(bytes(to)[..5], [1, 2, 3, 0, 0]);
        });
    }

    #[test]
    fn random_schedules_are_the_same_for_the_same_seed_and_land_everything_in_the_end() {
        let landed_early = |seed| {
            let mut early = Vec::new();
            with_model(Schedule::Random { seed }, |model, from, to| {
                for _ in 0..64 {
                    copy(model, to, from, 16);
                    early.push(bytes(to) == bytes(from));
                    model.commit();
                    model.wait(0);
                    model.barrier();
                    assert_eq!(bytes(to), bytes(from));
                }
            });
            early
        };
        assert_eq!(landed_early(7), landed_early(7));
        assert!(landed_early(7).contains(&true) && landed_early(7).contains(&false));
    }

    #[test]
    fn a_released_tile_is_poisoned_by_the_next_barrier() {
        with_model(Schedule::Lazy, |model, from, to| {
            copy(model, to, from, 16);
            model.commit();
            model.wait(0);
            model.barrier();
            release(model, to);
            assert_eq!(bytes(to), bytes(from), "slower threads may still be reading");
            model.barrier();
            assert_eq!(bytes(to), [POISON; 16]);
        });
    }

    #[test]
    #[should_panic(expected = "race: a copy into a tile that other threads may still be reading")]
    fn a_copy_into_a_tile_released_since_the_last_barrier_is_a_race() {
        with_model(Schedule::Eager, |model, from, to| {
            release(model, to);
            copy(model, to, from, 16);
        });
    }

    #[test]
    fn a_copy_beside_a_released_tile_or_behind_a_barrier_is_none() {
        with_model(Schedule::Eager, |model, from, to| {
            release(model, to);
            copy(model, to.wrapping_add(16), from, 16);
            model.barrier();
            copy(model, to, from, 16);
        });
    }
}
