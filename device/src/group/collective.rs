//! Collectives: values that all threads of a block or a warp work out together.
//!
//! Results are the same in all threads, because all of them get the result of one thread. The order
//! of every reduction and scan is part of the API, so that floats give the same bits on every run
//! and on the CPU:
//!
//! - in a warp of 32 lanes, five rounds with distances 1, 2, 4, 8, 16: lane `l` combines its value
//!   with that of lane `l + d` (reduction, every `2 * d`-th lane counts) or of lane `l - d` before
//!   it (scan), always the lower lane's value on the left;
//! - in a block, the warps' results from left to right.
//!
//! An operation that is associative but not commutative is therefore applied in the order of the
//! ranks.

use super::rounds::{broadcast_in, reduce_in, reduce_lanes, scan_in, scan_lanes};
use super::scratch::check_value;
use crate::element::Element;
use crate::fault;
use crate::group::InBlock;
use crate::group::block::{Block, PerThread};
use crate::group::warp::{PerLane, Warp};
use crate::isa::{self, WARP};
use crate::marker::Uniform;

impl<'b, const THREADS: usize> Block<'b, THREADS> {
    /// Combines the values of all threads and returns the result to all.
    ///
    /// The order is fixed: neighbouring ranks first, in a tree within each warp, then the warps'
    /// results from left to right (for 4 threads `op(op(v0, v1), op(v2, v3))`).
    ///
    /// Costs three `bar.sync` and 656 bytes of shared memory, by which the launch of a kernel with
    /// collectives enlarges what its `Shared` asks for. PTX: `shfl.sync.down`.
    ///
    /// CUDA: `cooperative_groups::reduce(block, value, op)`, CUB's `BlockReduce`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, TilesMut, kernel};
    ///
    /// /// Subtracts the largest rank from each rank.
    /// #[kernel]
    /// pub fn below_the_largest(block: Block<64>, mut out: TilesMut<i32, 64>) {
    ///     let ranks = block.map(|t| t.rank() as i32);
    ///     let largest = block.reduce(&ranks, i32::max); // the same in every thread
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| dst.set(&t, ranks.get(&t) - largest));
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let mut out = device.zeroed(64)?;
    /// # below_the_largest::launch(&device.stream()?, 1, &mut out)?;
    /// # assert_eq!(out.download()?, (-63..=0).collect::<Vec<i32>>());
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn reduce<T, F>(&self, values: &PerThread<'b, T, THREADS>, op: F) -> T
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged.
        unsafe { reduce_in::<InBlock<'b, THREADS>, T, THREADS>(&values.values, op) }
    }

    /// Combines the values of each thread and all of lower rank: thread `r` gets
    /// `op(.. op(v0, v1) .., vr)`.
    ///
    /// The order is fixed: first rounds of distance 1, 2, 4, 8, 16 within each warp; then the
    /// results of the lower warps, combined from left to right, on the left of that. Costs two
    /// `bar.sync`. PTX: `shfl.sync.up`.
    ///
    /// CUDA: `cooperative_groups::inclusive_scan`, CUB's `BlockScan`.
    #[inline(always)]
    pub fn scan<T, F>(&self, values: &PerThread<'b, T, THREADS>, op: F) -> PerThread<'b, T, THREADS>
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged.
        PerThread::from_values(unsafe { scan_in::<InBlock<'b, THREADS>, T, THREADS>(&values.values, op) })
    }

    /// Returns whether any thread's value is true. PTX: `bar.red.or.pred`, one instruction (CUDA:
    /// `__syncthreads_or`).
    #[inline(always)]
    pub fn any(&self, values: &PerThread<'b, bool, THREADS>) -> bool {
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged.
        unsafe { isa::barrier_any(&values.values) }
    }

    /// Returns whether all threads' values are true. PTX: `bar.red.and.pred`, one instruction
    /// (CUDA: `__syncthreads_and`).
    #[inline(always)]
    pub fn all(&self, values: &PerThread<'b, bool, THREADS>) -> bool {
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged.
        unsafe { isa::barrier_all(&values.values) }
    }

    /// Returns the value of the thread of rank `rank` to all. It costs two `bar.sync`.
    ///
    /// CUDA: a value in shared memory after `__syncthreads()`.
    ///
    /// # Panics
    ///
    /// If `rank >= THREADS`.
    #[inline(always)]
    #[track_caller]
    pub fn broadcast<T: Element>(&self, values: &PerThread<'b, T, THREADS>, rank: usize) -> T {
        const { check_value::<T>() };
        if rank >= THREADS {
            fault::out_of_range("rank {} is out of range: the block has {} threads", rank, THREADS);
        }
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged; and the rank was just checked.
        unsafe { broadcast_in::<InBlock<'b, THREADS>, T, THREADS>(&values.values, rank) }
    }
}

impl<'w, const THREADS: usize> Warp<'w, '_, THREADS> {
    /// Combines the values of all lanes and returns the result to all, in the order of
    /// [`Block::reduce`]. PTX: `shfl.sync.down`, then `shfl.sync.idx`.
    ///
    /// CUDA: `cooperative_groups::reduce(tile, value, op)`.
    #[inline(always)]
    pub fn reduce<T, F>(&self, values: &PerLane<'w, T>, op: F) -> T
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        let reduced = unsafe { reduce_lanes(&values.values, WARP, &op) };
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make this call too.
        unsafe { reduced.of_lane(0) }
    }

    /// Combines the values of each lane and all of lower rank, in the order of [`Block::scan`].
    /// PTX: `shfl.sync.up`.
    ///
    /// CUDA: `cooperative_groups::inclusive_scan`.
    #[inline(always)]
    pub fn scan<T, F>(&self, values: &PerLane<'w, T>, op: F) -> PerLane<'w, T>
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        PerLane::from_values(unsafe { scan_lanes(&values.values, &op) })
    }

    /// Returns whether any lane's value is true. PTX: `vote.sync.any` (CUDA: `__any_sync`).
    #[inline(always)]
    pub fn any(&self, values: &PerLane<'w, bool>) -> bool {
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        unsafe { values.values.any() }
    }

    /// Returns whether all lanes' values are true. PTX: `vote.sync.all` (CUDA: `__all_sync`).
    #[inline(always)]
    pub fn all(&self, values: &PerLane<'w, bool>) -> bool {
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        unsafe { values.values.all() }
    }

    /// Returns the value of lane `lane` to all. PTX: `shfl.sync.idx` (CUDA: `__shfl_sync`).
    ///
    /// # Panics
    ///
    /// If `lane >= 32`.
    #[inline(always)]
    #[track_caller]
    pub fn broadcast<T: Element>(&self, values: &PerLane<'w, T>, lane: usize) -> T {
        if lane >= WARP {
            fault::out_of_range("lane {} is out of range: a warp has {}", lane, WARP);
        }
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        unsafe { values.values.of_lane(lane) }
    }
}
