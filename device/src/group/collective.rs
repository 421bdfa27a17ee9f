//! Collectives: values that all threads of a block or a warp work out together.
//!
//! Results are the same in all threads, because all of them get the result of one thread. The order
//! of every reduction and scan is part of the API, so that floats give the same bits on every run
//! and on the CPU:
//!
//! - in a warp of 32 lanes, five rounds with distances 1, 2, 4, 8, 16: lane `l` combines its value
//!   with that of lane `l + d` (reduction, every `2 * d`-th lane counts) or of lane `l - d` before
//!   it (scan), always the lower lane's value on the left;
//! - in a block, the warps' results from left to right, after the initial value if there is one.
//!
//! An operation that is associative but not commutative is therefore applied in the order of the
//! ranks.

use super::rounds::{
    broadcast_in, exclusive_scan_in, exclusive_scan_lanes, reduce_in, reduce_lanes, scan_in, scan_lanes,
    scan_with_total_in,
};
use super::scratch::check_value;
use crate::element::Element;
use crate::fault;
use crate::group::InBlock;
use crate::group::block::{Block, PerThread};
use crate::group::warp::{PerLane, Warp};
use crate::isa::{self, Lanes, WARP};
use crate::marker::Uniform;

impl<'b, const THREADS: usize> Block<'b, THREADS> {
    /// Combines the values of all threads and returns the result to all.
    ///
    /// The order is fixed: neighbouring ranks first, in a tree within each warp, then the warps'
    /// results from left to right (for 4 threads `op(op(v0, v1), op(v2, v3))`).
    ///
    /// Costs two `bar.sync` and 656 bytes of shared memory, by which the launch of a kernel with
    /// collectives enlarges what its `Shared` asks for. PTX: `shfl.sync.down`.
    ///
    /// Several values are reduced at once, for the same barriers, as one element of at most 16
    /// bytes: an array, or a struct with `#[derive(Element)]`. Where the largest value is, an
    /// integer key says: [`key`](crate::key).
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
    ///
    /// Three values at once:
    ///
    /// ```
    /// use tilepipe::{Block, Element, Tiles, TilesMut, kernel};
    ///
    /// /// What is known of some numbers.
    /// #[derive(Clone, Copy, Debug, PartialEq, Element)]
    /// #[repr(C)]
    /// pub struct Summary {
    ///     least: i32,
    ///     largest: i32,
    ///     sum: i32,
    /// }
    ///
    /// /// Summarises 64 numbers.
    /// #[kernel]
    /// pub fn summarise(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<Summary, 1>) {
    ///     let own = block.map(|t| {
    ///         let value = input.at(t.rank());
    ///         Summary { least: value, largest: value, sum: value }
    ///     });
    ///     let summary = block.reduce(&own, |a, b| Summary {
    ///         least: a.least.min(b.least),
    ///         largest: a.largest.max(b.largest),
    ///         sum: a.sum.wrapping_add(b.sum),
    ///     });
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| dst.set_each(&t, |_| summary));
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let input = device.upload(&Vec::from_iter(-4..60))?;
    /// # let mut out = device.zeroed(1)?;
    /// # summarise::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # assert_eq!(out.download()?, [Summary { least: -4, largest: 59, sum: (-4..60).sum() }]);
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
    /// `bar.sync`, and as much shared memory as [`reduce`](Self::reduce). PTX: `shfl.sync.up`.
    ///
    /// CUDA: `cooperative_groups::inclusive_scan`, CUB's `BlockScan::InclusiveScan`.
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

    /// As [`scan`](Self::scan), and returns to all threads what the last one got: the values of all
    /// combined, in the order of the scan. It costs two `bar.sync`, as `scan` does.
    ///
    /// CUDA: CUB's `BlockScan::InclusiveScan` with a `block_aggregate`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, TilesMut, kernel};
    ///
    /// /// What share of the sum of all ranks those up to each rank have, in percent.
    /// #[kernel]
    /// pub fn shares(block: Block<64>, mut out: TilesMut<u32, 64>) {
    ///     let ranks = block.map(|t| t.rank() as u32);
    ///     let (sums, total) = block.scan_with_total(&ranks, |a, b| a + b);
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| dst.set(&t, 100 * sums.get(&t) / total));
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let mut out = device.zeroed(64)?;
    /// # shares::launch(&device.stream()?, 1, &mut out)?;
    /// # let share = |r: u32| 100 * (r * (r + 1) / 2) / 2016;
    /// # assert_eq!(out.download()?, Vec::from_iter((0..64).map(share)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn scan_with_total<T, F>(&self, values: &PerThread<'b, T, THREADS>, op: F) -> (PerThread<'b, T, THREADS>, T)
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged.
        let (scanned, total) = unsafe { scan_with_total_in::<InBlock<'b, THREADS>, T, THREADS>(&values.values, op) };
        (PerThread::from_values(scanned), total)
    }

    /// Combines `initial` and the values of all threads of lower rank, for each thread: thread `r`
    /// gets `op(.. op(op(initial, v0), v1) .., v(r - 1))`, and thread 0 `initial` itself.
    ///
    /// The second result, the same in all threads, is `initial` and the values of all: what the
    /// next values in a row have on their left. (CUB's `block_aggregate` is without `initial`.)
    ///
    /// The order is fixed: `initial`, then the results of the lower warps from left to right; on
    /// the right of that the lower lanes of the own warp, as [`scan`](Self::scan) combines them. It
    /// costs two `bar.sync`, and as much shared memory as [`reduce`](Self::reduce). PTX:
    /// `shfl.sync.up`.
    ///
    /// CUDA: `cooperative_groups::exclusive_scan`, CUB's `BlockScan::ExclusiveScan`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, TilesMut, kernel};
    ///
    /// /// Where each thread's part begins, if thread `r` has `r` elements and the first is number
    /// /// 100; and in the last element where the part of one more thread would begin.
    /// #[kernel]
    /// pub fn offsets(block: Block<64>, mut out: TilesMut<u32, 65>) {
    ///     let lengths = block.map(|t| t.rank() as u32);
    ///     let (begins, end) = block.exclusive_scan(&lengths, 100, |a, b| a + b);
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.threads(|t| {
    ///         dst.set_nth(&t, 0, begins.get(&t));
    ///         if t.rank() == 0 {
    ///             dst.set_nth(&t, 1, end);
    ///         }
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let mut out = device.zeroed(65)?;
    /// # offsets::launch(&device.stream()?, 1, &mut out)?;
    /// # let begin = |r: u32| 100 + r * r.saturating_sub(1) / 2;
    /// # assert_eq!(out.download()?, Vec::from_iter((0..65).map(begin)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn exclusive_scan<T, F>(
        &self,
        values: &PerThread<'b, T, THREADS>,
        initial: T,
        op: F,
    ) -> (PerThread<'b, T, THREADS>, T)
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        // SAFETY: block-level code of a block of THREADS (`Block`, 0 and 1): all its threads make
        // the call, converged.
        let (prefixes, total) =
            unsafe { exclusive_scan_in::<InBlock<'b, THREADS>, T, THREADS>(&values.values, initial, op) };
        (PerThread::from_values(prefixes), total)
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

    /// As [`scan`](Self::scan), and returns to all lanes what the last one got: the values of all
    /// combined, in the order of the scan. PTX: `shfl.sync.up`, then `shfl.sync.idx`.
    ///
    /// CUDA: `cooperative_groups::inclusive_scan`, then `tile.shfl(sum, 31)`.
    #[inline(always)]
    pub fn scan_with_total<T, F>(&self, values: &PerLane<'w, T>, op: F) -> (PerLane<'w, T>, T)
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        let scanned = unsafe { scan_lanes(&values.values, &op) };
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make this call too.
        let total = unsafe { scanned.of_lane(WARP - 1) };
        (PerLane::from_values(scanned), total)
    }

    /// Combines `initial` and the values of all lower lanes, for each lane; and, the same in all
    /// lanes, `initial` and the values of all 32. Lane 0 gets `initial` itself.
    ///
    /// The order is fixed: `initial` on the left of the lanes as [`scan`](Self::scan) combines
    /// them. PTX: `shfl.sync.up`, then `shfl.sync.idx`.
    ///
    /// CUDA: `cooperative_groups::exclusive_scan`.
    #[inline(always)]
    pub fn exclusive_scan<T, F>(&self, values: &PerLane<'w, T>, initial: T, op: F) -> (PerLane<'w, T>, T)
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        let (prefixes, total) = unsafe { exclusive_scan_lanes(&values.values, initial, &op) };
        (PerLane::from_values(prefixes), total)
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

    /// Hands each lane the value of the lane `D` above it: lane `l` gets that of lane `l + D`. The
    /// last `D` lanes have none above and keep their own.
    ///
    /// `D` is 1 to 31, or it does not compile; the call is `warp.shift_down::<1, _>(&values)`. PTX:
    /// `shfl.sync.down`, one for each word of 4 bytes.
    ///
    /// CUDA: `tile.shfl_down(value, D)`, `__shfl_down_sync`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Tiles, TilesMut, kernel};
    ///
    /// /// How far each element is below the next one of its warp; of the last one 0.
    /// #[kernel]
    /// pub fn rises(block: Block<64>, input: Tiles<i32, 64>, mut out: TilesMut<i32, 64>) {
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.warps(|warp| {
    ///         let own = warp.map(|lane| input.at(lane.thread().rank()));
    ///         let next = warp.shift_down::<1, _>(&own);
    ///         warp.lanes(|lane| dst.set(lane.thread(), next.get(&lane) - own.get(&lane)));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let squares = Vec::from_iter((0..64).map(|i| i * i));
    /// # let (input, mut out) = (device.upload(&squares)?, device.zeroed(64)?);
    /// # rises::launch(&device.stream()?, 1, &input, &mut out)?;
    /// # let rise = |i| if i % 32 == 31 { 0 } else { 2 * i + 1 };
    /// # assert_eq!(out.download()?, Vec::from_iter((0..64).map(rise)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn shift_down<const D: usize, T: Element>(&self, values: &PerLane<'w, T>) -> PerLane<'w, T> {
        const { check_distance(D) };
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        PerLane::from_values(unsafe { values.values.lane_above(D) })
    }

    /// Hands each lane the value of the lane `D` below it: lane `l` gets that of lane `l - D`. The
    /// first `D` lanes have none below and keep their own.
    ///
    /// `D` is 1 to 31, or it does not compile; the call is `warp.shift_up::<1, _>(&values)`. PTX:
    /// `shfl.sync.up`, one for each word of 4 bytes.
    ///
    /// CUDA: `tile.shfl_up(value, D)`, `__shfl_up_sync`.
    #[inline(always)]
    pub fn shift_up<const D: usize, T: Element>(&self, values: &PerLane<'w, T>) -> PerLane<'w, T> {
        const { check_distance(D) };
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call.
        PerLane::from_values(unsafe { values.values.lane_below(D) })
    }

    /// Swaps values between pairs of lanes: lane `l` gets that of lane `l ^ MASK`. Every lane has
    /// such a partner.
    ///
    /// `MASK` is 1 to 31, or it does not compile; the call is `warp.swap::<16, _>(&values)`. PTX:
    /// `shfl.sync.bfly`, one for each word of 4 bytes.
    ///
    /// CUDA: `tile.shfl_xor(value, MASK)`, `__shfl_xor_sync`.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, TilesMut, kernel};
    ///
    /// /// The rank in the warp of the other lane of each pair.
    /// #[kernel]
    /// pub fn partners(block: Block<64>, mut out: TilesMut<u32, 64>) {
    ///     let mut results = out.for_block(&block);
    ///     let dst = results.get_mut(0);
    ///     block.warps(|warp| {
    ///         let partners = warp.swap::<1, _>(&warp.map(|lane| lane.rank() as u32));
    ///         warp.lanes(|lane| dst.set(lane.thread(), partners.get(&lane)));
    ///     });
    /// }
    ///
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
    /// # let mut out = device.zeroed(64)?;
    /// # partners::launch(&device.stream()?, 1, &mut out)?;
    /// # assert_eq!(out.download()?[..5], [1, 0, 3, 2, 5]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn swap<const MASK: usize, T: Element>(&self, values: &PerLane<'w, T>) -> PerLane<'w, T> {
        const { check_distance(MASK) };
        // SAFETY: code of a whole warp (`Warp`, 1): all its lanes make the call; and the mask is
        // below 32 by the assertion.
        PerLane::from_values(unsafe { values.values.lane_across(MASK) })
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

/// Refuses, at compile time, a distance at which no lane has another.
const fn check_distance(distance: usize) {
    assert!(distance >= 1 && distance < WARP, "values move between lanes by a distance or a mask of 1 to 31");
}
