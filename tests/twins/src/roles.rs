//! Two roles and the stages between them: raw barriers, and each role's loop.
//!
//! Each stage has two barriers, `full` and `empty`. The copying threads wait until it is empty, copy, and arrive at `full` once their
//! copies have landed; the computing ones wait until it is full, read, and arrive at `empty`.

use crate::device::{
    View, barrier, barrier_of_roles, copy_tile_as, out_of_range, rank, shared_base, tilepipe_cp_async_mbarrier_arrive,
    tilepipe_mbarrier_arrive, tilepipe_mbarrier_init, tilepipe_mbarrier_inval, tilepipe_mbarrier_wait, warp_barrier,
    write_neighbour_sum_as,
};

/// Threads of each role, and elements of a tile.
pub const TILE: usize = 128;
/// Bytes of a stage.
const STAGE: usize = TILE * size_of::<i32>();

/// How the threads of a block are divided.
pub trait Division {
    /// Whether arrivals of the computing threads are one a warp.
    const WARPS: bool;

    /// Whether the calling thread copies.
    fn copies() -> bool;

    /// The calling thread's rank among those that copy, of which it is one.
    fn copying_rank() -> usize;

    /// The calling thread's rank among those that compute, of which it is one.
    fn computing_rank() -> usize;
}

/// The shared memory of `STAGES` stages: tiles, barriers, and words that the kernel does not need and the safe one has.
#[derive(Clone, Copy)]
struct Shared<const STAGES: usize>;

impl<const STAGES: usize> Shared<STAGES> {
    const FULL: usize = STAGES * STAGE;
    const EMPTY: usize = Self::FULL + 8 * STAGES;
    const DECIDED: usize = Self::EMPTY + 8 * STAGES;
    const CLOSED: usize = Self::DECIDED + 8 * 2;

    /// The address `offset` bytes behind the start, in a stage or a barrier.
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
    fn full(stage: u32) -> *mut u64 {
        Self::at(Self::FULL + 8 * stage as usize).cast()
    }

    #[inline(always)]
    fn empty(stage: u32) -> *mut u64 {
        Self::at(Self::EMPTY + 8 * stage as usize).cast()
    }

    #[inline(always)]
    fn decided(role: u32) -> *mut u64 {
        Self::at(Self::DECIDED + 8 * role as usize).cast()
    }

    #[inline(always)]
    fn closed(stage: u32) -> *mut u32 {
        Self::at(Self::CLOSED + 4 * stage as usize).cast()
    }
}

/// A role's place in the ring: the stage, which is below `STAGES`, and the parity of the phase that it waits for next.
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
/// All threads of a block of `2 * TILE` make this call, and the shared memory is that of `STAGES` stages.
#[inline(always)]
pub unsafe fn run<D: Division, const STAGES: usize>(input: View<i32, TILE>, out: impl FnOnce() -> View<i32, TILE>) {
    let computing_arrivals = if D::WARPS { TILE as u32 / 32 } else { TILE as u32 };
    // SAFETY: the barriers are made by one thread before any other uses them, and ended behind their last use; every thread comes to
    // each barrier of the block.
    unsafe {
        if rank() == 0 {
            for stage in 0..STAGES as u32 {
                tilepipe_mbarrier_init(Shared::<STAGES>::full(stage), TILE as u32);
                tilepipe_mbarrier_init(Shared::<STAGES>::empty(stage), computing_arrivals);
                Shared::<STAGES>::closed(stage).write(0);
            }
            for role in 0..2 {
                tilepipe_mbarrier_init(Shared::<STAGES>::decided(role), TILE as u32);
            }
        }
        barrier();
        if D::copies() {
            // Waiting for parity 1 at a new barrier returns at once: all stages are empty.
            let mut cursor = Cursor { stage: 0, parity: 1 };
            if input.all_whole(input.tiles) {
                copy::<D, true, STAGES>(&mut cursor, &input);
            } else {
                copy::<D, false, STAGES>(&mut cursor, &input);
            }
        } else {
            let mut cursor = Cursor { stage: 0, parity: 0 };
            let out = out();
            if out.tiles < input.tiles {
                out_of_range(out.tiles, input.tiles);
            }
            if out.all_whole(input.tiles) {
                compute::<D, true, STAGES>(&mut cursor, input.tiles, &out);
            } else {
                compute::<D, false, STAGES>(&mut cursor, input.tiles, &out);
            }
        }
        barrier_of_roles();
        if rank() == 0 {
            for stage in 0..STAGES as u32 {
                tilepipe_mbarrier_inval(Shared::<STAGES>::full(stage));
                tilepipe_mbarrier_inval(Shared::<STAGES>::empty(stage));
            }
            for role in 0..2 {
                tilepipe_mbarrier_inval(Shared::<STAGES>::decided(role));
            }
        }
        barrier();
    }
}

/// The copying threads' loop.
///
/// # Safety
///
/// All copying threads make this call; if `WHOLE` all of the block's tiles lie within the view as a whole.
#[inline(always)]
unsafe fn copy<D: Division, const WHOLE: bool, const STAGES: usize>(
    cursor: &mut Cursor<STAGES>,
    input: &View<i32, TILE>,
) {
    let mut index = 0;
    while index < input.tiles {
        let stage = cursor.stage;
        // SAFETY: the stage is empty behind the wait; the tile's first bytes are readable for the whole launch; each copying thread
        // arrives once a phase.
        unsafe {
            tilepipe_mbarrier_wait(Shared::<STAGES>::empty(stage), cursor.parity);
            let to = Shared::<STAGES>::tile(stage);
            copy_tile_as::<i32, TILE, TILE, WHOLE>(D::copying_rank(), to, input.source(index));
            tilepipe_cp_async_mbarrier_arrive(Shared::<STAGES>::full(stage));
        }
        cursor.advance();
        index += 1;
    }
}

/// The computing threads' loop, over as many tiles.
///
/// # Safety
///
/// All computing threads make this call; the output has `count` tiles for the block, and if `WHOLE` all lie within the view as a whole.
#[inline(always)]
unsafe fn compute<D: Division, const WHOLE: bool, const STAGES: usize>(
    cursor: &mut Cursor<STAGES>,
    count: usize,
    out: &View<i32, TILE>,
) {
    for index in 0..count {
        let stage = cursor.stage;
        // SAFETY: the tile has landed behind the wait; the output's tile has `len` elements, which this block alone writes; each
        // computing thread, or one for each warp behind the warp's barrier, arrives once a phase.
        unsafe {
            tilepipe_mbarrier_wait(Shared::<STAGES>::full(stage), cursor.parity);
            let (to, len) = out.tile(index);
            let tile = Shared::<STAGES>::tile(stage).cast_const().cast();
            write_neighbour_sum_as::<i32, TILE>(D::computing_rank(), tile, to, if WHOLE { TILE } else { len });
            if D::WARPS {
                warp_barrier();
                if rank().is_multiple_of(32) {
                    tilepipe_mbarrier_arrive(Shared::<STAGES>::empty(stage));
                }
            } else {
                tilepipe_mbarrier_arrive(Shared::<STAGES>::empty(stage));
            }
        }
        cursor.advance();
    }
}
