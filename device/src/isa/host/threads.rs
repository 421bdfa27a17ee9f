//! Threads, warps and lanes: closures run once for each of them in turn, and values of which each has one are arrays.

use super::block::{self, current_warp, with_block};
use crate::group::WARP;
use crate::isa::Lanes;

/// Runs `body` with every rank of the block in turn.
#[inline(always)]
pub(crate) fn for_each_thread(threads: usize, body: impl Fn(usize)) {
    for rank in 0..threads {
        block::enter_thread(rank);
        body(rank);
    }
    block::leave_threads();
}

/// Runs `body` with the rank of every warp of a block of `threads` in turn.
pub(crate) fn for_each_warp(threads: usize, body: impl Fn(usize)) {
    for warp in 0..threads / WARP {
        block::enter_warp(warp);
        body(warp);
    }
    block::leave_warps();
}

/// Runs `body` with every lane of the running warp in turn.
pub(crate) fn for_each_lane(body: impl Fn(usize)) {
    for lane in 0..WARP {
        block::enter_thread(current_warp() * WARP + lane);
        body(lane);
    }
    block::leave_threads();
}

/// One value a thread: an array with one for each rank.
pub(crate) struct PerThread<T, const THREADS: usize>([T; THREADS]);

impl<T: Copy, const THREADS: usize> PerThread<T, THREADS> {
    /// Computes each thread's value from its rank.
    pub(crate) fn new(value: impl Fn(usize) -> T) -> Self {
        let values = core::array::from_fn(|rank| {
            block::enter_thread(rank);
            value(rank)
        });
        block::leave_threads();
        PerThread(values)
    }

    /// Computes each warp's value from its rank, for all its threads.
    pub(crate) fn of_warps(value: impl Fn(usize) -> T) -> Self {
        let mut of_warp = Vec::with_capacity(THREADS / WARP);
        for warp in 0..THREADS / WARP {
            block::enter_warp(warp);
            of_warp.push(value(warp));
        }
        block::leave_warps();
        PerThread(core::array::from_fn(|rank| of_warp[rank / WARP]))
    }

    /// Updates each thread's value.
    pub(crate) fn update(&mut self, update: impl Fn(usize, &mut T)) {
        for (rank, value) in self.0.iter_mut().enumerate() {
            block::enter_thread(rank);
            update(rank, value);
        }
        block::leave_threads();
    }

    /// The value of the thread of rank `rank`.
    pub(crate) fn get(&self, rank: usize) -> T {
        self.0[rank]
    }
}

/// `bar.red.or`: a barrier of the block that returns whether any thread's value is true.
///
/// # Safety
///
/// None here; on the GPU all threads of the block execute this call, in converged code.
pub(crate) unsafe fn barrier_any<const THREADS: usize>(values: &PerThread<bool, THREADS>) -> bool {
    with_block(|block| block.model.barrier());
    values.0.contains(&true)
}

/// `bar.red.and`: a barrier of the block that returns whether all threads' values are true.
///
/// # Safety
///
/// As for `barrier_any`.
pub(crate) unsafe fn barrier_all<const THREADS: usize>(values: &PerThread<bool, THREADS>) -> bool {
    with_block(|block| block.model.barrier());
    !values.0.contains(&false)
}

/// One value a lane of the running warp: an array with one for each.
pub(crate) struct PerLane<T>([T; WARP]);

impl<T: Copy> PerLane<T> {
    /// Computes each lane's value from its rank.
    pub(crate) fn new(value: impl Fn(usize) -> T) -> Self {
        let values = core::array::from_fn(|lane| {
            block::enter_thread(current_warp() * WARP + lane);
            value(lane)
        });
        block::leave_threads();
        PerLane(values)
    }

    /// Updates each lane's value.
    pub(crate) fn update(&mut self, update: impl Fn(usize, &mut T)) {
        for (lane, value) in self.0.iter_mut().enumerate() {
            block::enter_thread(current_warp() * WARP + lane);
            update(lane, value);
        }
        block::leave_threads();
    }

    /// The value of lane `lane`.
    pub(crate) fn get(&self, lane: usize) -> T {
        self.0[lane]
    }

    /// `shfl.sync.idx`: the value of lane `lane`.
    pub(crate) fn of_lane(&self, lane: usize) -> T {
        self.0[lane]
    }
}

impl PerLane<bool> {
    /// `vote.sync.any`: whether any lane's value is true.
    pub(crate) fn any(&self) -> bool {
        self.0.contains(&true)
    }

    /// `vote.sync.all`: whether all lanes' values are true.
    pub(crate) fn all(&self) -> bool {
        !self.0.contains(&false)
    }
}

/// Each value's neighbour `distance` above or below it in its warp, or itself.
fn neighbours<T: Copy, const N: usize>(values: &[T; N], distance: isize) -> [T; N] {
    core::array::from_fn(|rank| {
        let neighbour = rank.wrapping_add_signed(distance);
        let same_warp = neighbour / WARP == rank / WARP;
        if same_warp && neighbour < N { values[neighbour] } else { values[rank] }
    })
}

macro_rules! lanes {
    ($name:ident $(, const $threads:ident: usize)?) => {
        impl<T: Copy $(, const $threads: usize)?> Lanes<T> for $name<T $(, $threads)?> {
            fn duplicate(&self) -> Self {
                $name(self.0)
            }

            fn lane_above(&self, distance: usize) -> Self {
                $name(neighbours(&self.0, distance as isize))
            }

            fn lane_below(&self, distance: usize) -> Self {
                $name(neighbours(&self.0, -(distance as isize)))
            }

            fn update_ranks(&mut self, update: impl Fn(usize, &mut T)) {
                for (rank, value) in self.0.iter_mut().enumerate() {
                    update(rank, value);
                }
            }

            fn of_rank(&self, rank: usize) -> T {
                self.0[rank]
            }
        }
    };
}
lanes!(PerThread, const THREADS: usize);
lanes!(PerLane);
