//! The memory model of asynchronous copies: what is under way, what has landed, what may still be read.

use std::collections::VecDeque;

use crate::cpu::Schedule;

/// The byte of memory in flight, of stale stages and of shared memory that nobody has written.
pub(crate) const POISON: u8 = 0xA5;

/// One unit of a copy: 4, 8 or 16 bytes, of which the first `valid` come from `from` and the others are zero.
///
/// # Invariants
///
/// 0. `to` is valid for writes of `width` bytes and `from` for reads of `valid <= width`, until the block ends.
#[derive(Clone, Copy)]
struct Unit {
    to: *mut u8,
    from: *const u8,
    valid: u32,
    width: u32,
}

impl Unit {
    fn land(self) {
        let (valid, width) = (self.valid as usize, self.width as usize);
        // SAFETY: `valid` bytes are readable and writable (0); global memory and the block's arena don't overlap.
        unsafe { self.to.copy_from_nonoverlapping(self.from, valid) };
        // SAFETY: the rest of the unit's `width` bytes (0).
        let rest = unsafe { self.to.add(valid) };
        // SAFETY: as above.
        unsafe { rest.write_bytes(0, width - valid) };
    }
}

/// Copies of one block, as its threads see them.
///
/// A unit waits in the `open` group until the group is committed, then in `committed` until it is waited for, then in
/// `arrived` until a barrier makes it visible to the other threads. The lazy schedule lands it there, the eager one at
/// once, the random one anywhere on the way.
pub(crate) struct Model {
    schedule: Schedule,
    random: u64,
    open: Vec<Unit>,
    committed: VecDeque<Vec<Unit>>,
    arrived: Vec<Unit>,
    spare: Vec<Vec<Unit>>,
    /// Address ranges of tiles that were released since the last barrier.
    readers: Vec<(usize, usize)>,
}

impl Model {
    pub(super) const fn new() -> Self {
        Model {
            schedule: Schedule::Lazy,
            random: 1,
            open: Vec::new(),
            committed: VecDeque::new(),
            arrived: Vec::new(),
            spare: Vec::new(),
            readers: Vec::new(),
        }
    }

    /// Starts a block.
    pub(super) fn begin(&mut self, schedule: Schedule, block: u32) {
        self.clear();
        self.schedule = schedule;
        if let Schedule::Random { seed } = schedule {
            // Any odd multiplier spreads neighbouring blocks; the state must not be 0.
            self.random = (seed ^ u64::from(block).wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1;
        }
    }

    /// Forgets everything under way.
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.committed.clear();
        self.arrived.clear();
        self.readers.clear();
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
    /// The invariant of [`Unit`] holds, and nobody accesses the unit's destination before a wait and a barrier.
    pub(super) unsafe fn copy(&mut self, to: *mut u8, from: *const u8, valid: u32, width: u32) {
        self.check_readers(to, width);
        let unit = Unit {
            to,
            from,
            valid,
            width,
        };
        let delayed = match self.schedule {
            Schedule::Eager => false,
            Schedule::Lazy => true,
            Schedule::Random { .. } => self.draw(2) == 0,
        };
        if !delayed {
            return unit.land();
        }
        // SAFETY: the destination is writable, and nobody accesses it before the copy has landed.
        unsafe { unit.to.write_bytes(POISON, unit.width as usize) };
        self.open.push(unit);
        if self.schedule != Schedule::Lazy && self.draw(4) == 0 {
            self.land_one();
        }
    }

    /// Stores one element, visible to the other threads after the next barrier.
    ///
    /// # Safety
    ///
    /// As for [`copy`](Self::copy).
    pub(super) unsafe fn store(&mut self, to: *mut u8, from: *const u8, valid: u32, width: u32) {
        self.check_readers(to, width);
        let unit = Unit {
            to,
            from,
            valid,
            width,
        };
        match self.schedule {
            Schedule::Eager => unit.land(),
            _ => self.arrived.push(unit),
        }
    }

    /// Closes the open group.
    pub(super) fn commit(&mut self) {
        let next = self.spare.pop().unwrap_or_default();
        self.committed
            .push_back(std::mem::replace(&mut self.open, next));
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
        for unit in self.arrived.drain(..) {
            unit.land();
        }
        if self.schedule != Schedule::Eager {
            for (first, bytes) in self.readers.drain(..) {
                let stale = core::ptr::with_exposed_provenance_mut::<u8>(first);
                // SAFETY: a released tile in the arena, which no thread reads after this barrier.
                unsafe { stale.write_bytes(POISON, bytes) };
            }
        }
        self.readers.clear();
    }

    /// Notes a released tile.
    pub(super) fn released(&mut self, first: *const u8, bytes: usize) {
        self.readers.push((first.expose_provenance(), bytes));
    }

    /// Lands a unit of the open group early. (Landing it twice does no harm: nobody writes its source.)
    fn land_one(&mut self) {
        let index = self.draw(self.open.len() as u64);
        if let Some(unit) = self.open.get(index as usize) {
            unit.land();
        }
    }

    fn check_readers(&self, to: *mut u8, width: u32) {
        let first = to.addr();
        for &(start, bytes) in &self.readers {
            assert!(
                first + width as usize <= start || start + bytes <= first,
                "race: a copy into a tile that other threads may still be reading (no barrier since its release)"
            );
        }
    }

    /// Draws a number below `bound` (0 if that is 0).
    fn draw(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if bound == 0 { 0 } else { self.random % bound }
    }
}
