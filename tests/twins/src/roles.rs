//! Two roles and the stages between them: raw barriers, and each role's loop.
//!
//! Each stage has two barriers, `full` and `empty`. The copying threads wait until it is empty,
//! copy, and arrive at `full` once their copies have landed; the computing ones wait until it is
//! full, read, and arrive at `empty`.

use crate::device::{
    Members, View, barrier, barrier_address, barrier_of_roles, check_tiles, copy_tile_as, counted_in_32_bits,
    shared_base, tilepipe_cp_async_mbarrier_arrive, tilepipe_mbarrier_arrive, tilepipe_mbarrier_init,
    tilepipe_mbarrier_inval, tilepipe_mbarrier_wait, write_neighbour_sum_as,
};

/// Computing threads, and elements of a tile. A block has as many other threads.
pub const TILE: usize = 128;
/// The block's first thread.
const FIRST: Members = Members { first: 0, stride: 1, count: 1 };
/// Bytes of a stage.
const STAGE: usize = TILE * size_of::<i32>();

/// How the threads of a block are divided.
pub trait Division {
    /// The threads of the copying role.
    const COPYING: Members;
    /// Those of them that run its loop: a tile has 32 units of a copy, so the others have nothing
    /// to do.
    const COPIERS: Members;
    /// The threads that compute.
    const COMPUTING: Members;
}

/// The shared memory of `STAGES` stages: tiles and barriers. (The safe kernel's has more behind
/// them, which is not used here.)
#[derive(Clone, Copy)]
struct Shared<const STAGES: usize>;

impl<const STAGES: usize> Shared<STAGES> {
    const FULL: usize = STAGES * STAGE;
    const EMPTY: usize = Self::FULL + 8 * STAGES;

    /// The place `offset` bytes behind the start, in a stage or a word.
    #[inline(always)]
    fn at(offset: usize) -> *mut u8 {
        // SAFETY: callers name stages below STAGES, so the offset lies in the shared memory.
        unsafe { shared_base().add(offset) }
    }

    #[inline(always)]
    fn tile(stage: u32) -> *mut u8 {
        Self::at(stage as usize * STAGE)
    }

    #[inline(always)]
    fn full(stage: u32) -> u32 {
        barrier_address(Self::FULL + 8 * stage as usize)
    }

    #[inline(always)]
    fn empty(stage: u32) -> u32 {
        barrier_address(Self::EMPTY + 8 * stage as usize)
    }
}

/// A role's place in the ring: the stage, which is below `STAGES`, and the parity of the phase that
/// it waits for next.
struct Cursor<const STAGES: usize> {
    stage: u32,
    parity: u32,
}

impl<const STAGES: usize> Cursor<STAGES> {
    #[inline(always)]
    fn advance(&mut self) {
        self.stage += 1;
        if self.stage == STAGES as u32 {
            self.stage = 0;
            self.parity ^= 1;
        }
    }
}

/// The whole kernel: barriers, both roles, and the barriers' end.
///
/// # Safety
///
/// All threads of a block of `2 * TILE` make this call, and the shared memory is that of `STAGES`
/// stages.
#[inline(always)]
pub unsafe fn run<D: Division, const STAGES: usize>(input: View<i32, TILE>, out: impl FnOnce() -> View<i32, TILE>) {
    // SAFETY: the barriers are made by one thread before any other uses them, and ended behind
    // their last use; every thread comes to each barrier of the block.
    unsafe {
        if FIRST.has_caller() {
            for stage in 0..STAGES as u32 {
                tilepipe_mbarrier_init(Shared::<STAGES>::full(stage), D::COPIERS.count as u32);
                tilepipe_mbarrier_init(Shared::<STAGES>::empty(stage), TILE as u32);
            }
        }
        barrier();
        let count = counted_in_32_bits(input.tiles());
        // One chain of branches: threads of a warp that has both roles must not wait for one
        // another between two branches.
        if D::COPIERS.has_caller() {
            if input.lies_below(input.whole_below()) {
                copy::<D, true, STAGES>(count, &input);
            } else {
                copy::<D, false, STAGES>(count, &input);
            }
        } else if D::COMPUTING.has_caller() {
            let out = out();
            if input.lies_below(out.whole_below()) {
                compute::<D, true, STAGES>(count, &out);
            } else {
                check_tiles(&input, &out);
                compute::<D, false, STAGES>(count, &out);
            }
        }
        barrier_of_roles();
        if FIRST.has_caller() {
            for stage in 0..STAGES as u32 {
                tilepipe_mbarrier_inval(Shared::<STAGES>::full(stage));
                tilepipe_mbarrier_inval(Shared::<STAGES>::empty(stage));
            }
        }
        barrier();
    }
}

/// Calls `step` with each index below `count`: if `WHOLE` in laps, in which a stage's addresses are
/// constants, and the rest one by one.
#[inline(always)]
fn in_order<const WHOLE: bool, const STAGES: usize>(count: u32, mut step: impl FnMut(usize)) {
    let mut index = 0;
    if WHOLE {
        let laps = count - count % STAGES as u32;
        while index < laps {
            for _ in 0..STAGES {
                step(index as usize);
                index += 1;
            }
        }
    }
    while index < count {
        step(index as usize);
        index += 1;
    }
}

/// The copying threads' loop.
///
/// # Safety
///
/// All copying threads make this call; the block has `count` tiles, and if `WHOLE` all of them lie
/// within the view as a whole.
#[inline(always)]
unsafe fn copy<D: Division, const WHOLE: bool, const STAGES: usize>(count: u32, input: &View<i32, TILE>) {
    // Waiting for parity 1 at a new barrier returns at once: all stages are empty.
    let mut cursor = Cursor::<STAGES> { stage: 0, parity: 1 };
    in_order::<WHOLE, STAGES>(count, |index| {
        let stage = cursor.stage;
        // SAFETY: the stage is empty behind the wait; the tile's first bytes are readable for the
        // whole launch; each copying thread arrives once a phase.
        unsafe {
            tilepipe_mbarrier_wait(Shared::<STAGES>::empty(stage), cursor.parity);
            let to = Shared::<STAGES>::tile(stage);
            copy_tile_as::<i32, TILE, TILE, WHOLE>(D::COPYING.rank(), to, input.source(index));
            tilepipe_cp_async_mbarrier_arrive(Shared::<STAGES>::full(stage));
        }
        cursor.advance();
    });
}

/// The computing threads' loop, over as many tiles.
///
/// # Safety
///
/// All computing threads make this call; the output has `count` tiles for the block, and if `WHOLE`
/// all lie within the view as a whole.
#[inline(always)]
unsafe fn compute<D: Division, const WHOLE: bool, const STAGES: usize>(count: u32, out: &View<i32, TILE>) {
    let mut cursor = Cursor::<STAGES> { stage: 0, parity: 0 };
    in_order::<WHOLE, STAGES>(count, |index| {
        let stage = cursor.stage;
        // SAFETY: the tile has landed behind the wait; the output's tile has `len` elements, which
        // this block alone writes; each computing thread arrives once a phase.
        unsafe {
            tilepipe_mbarrier_wait(Shared::<STAGES>::full(stage), cursor.parity);
            let (to, len) = out.tile(index);
            let tile = Shared::<STAGES>::tile(stage).cast_const().cast();
            write_neighbour_sum_as::<i32, TILE>(D::COMPUTING.rank(), tile, to, if WHOLE { TILE } else { len });
            tilepipe_mbarrier_arrive(Shared::<STAGES>::empty(stage));
        }
        cursor.advance();
    });
}
