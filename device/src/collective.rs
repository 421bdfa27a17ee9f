//! Collectives: values that all threads of a block or a warp work out together.
//!
//! Results are the same in all threads because one thread's result is handed to all. The order of every reduction and scan is
//! part of the API, so that floats give the same bits on every run and on the CPU:
//!
//! - in a warp of 32 lanes, five rounds with distances 1, 2, 4, 8, 16: lane `l` combines its value with that of lane `l + d`
//!   (reduction, every `2 * d`-th lane counts) or of lane `l - d` before it (scan), always the lower lane's value on the left;
//! - in a block, the warps' results from left to right.
//!
//! An operation that is associative but not commutative is therefore applied in the order of the ranks.

use crate::block::{Block, PerThread};
use crate::element::Element;
use crate::fault;
use crate::group::WARP;
use crate::isa::{self, Lanes};
use crate::uniform::Uniform;
use crate::warp::{PerLane, Warp};

impl<'b, const THREADS: usize> Block<'b, THREADS> {
    /// Combines the values of all threads and returns the result to all.
    ///
    /// The order is fixed: neighbouring ranks first, in a tree within each warp, then the warps' results from left to right
    /// (for 4 threads `op(op(v0, v1), op(v2, v3))`).
    ///
    /// Costs three `bar.sync` and 544 bytes of shared memory, which collectives have beside a kernel's `Shared`. PTX: `shfl.sync.down`.
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
        let warps = reduce_lanes(&values.values, THREADS, &op);
        let scratch = Scratch::<T>::new();
        // The barrier ends all reads of the scratch memory by earlier collectives.
        self.sync();
        isa::for_each_thread(THREADS, |rank| {
            if rank.is_multiple_of(WARP) {
                // SAFETY: the warp's own slot, between two barriers in which nobody else accesses it.
                unsafe { scratch.write(rank / WARP, warps.get(rank)) };
            }
        });
        self.sync();
        isa::for_each_thread(THREADS, |rank| {
            if rank == 0 {
                // SAFETY: the warps' slots were written before the barrier.
                let mut result = unsafe { scratch.read(0) };
                for warp in 1..THREADS.div_ceil(WARP) {
                    // SAFETY: as above.
                    result = op(result, unsafe { scratch.read(warp) });
                }
                // SAFETY: this thread alone accesses the last slot between these two barriers.
                unsafe { scratch.write(RESULT, result) };
            }
        });
        self.sync();
        // SAFETY: written before the barrier, and not again before another one.
        unsafe { scratch.read(RESULT) }
    }

    /// Combines the values of each thread and all of lower rank: thread `r` gets `op(.. op(v0, v1) .., vr)`.
    ///
    /// The order is fixed: within each warp rounds of distance 1, 2, 4, 8, 16, and to the left of that the results of the warps before,
    /// combined from left to right. Costs two `bar.sync`. PTX: `shfl.sync.up`.
    ///
    /// CUDA: `cooperative_groups::inclusive_scan`, CUB's `BlockScan`.
    #[inline(always)]
    pub fn scan<T, F>(&self, values: &PerThread<'b, T, THREADS>, op: F) -> PerThread<'b, T, THREADS>
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        const { check_value::<T>() };
        let mut scanned = scan_lanes(&values.values, &op);
        let scratch = Scratch::<T>::new();
        self.sync();
        isa::for_each_thread(THREADS, |rank| {
            if rank % WARP == WARP - 1 {
                // SAFETY: the warp's own slot, between two barriers in which nobody else accesses it.
                unsafe { scratch.write(rank / WARP, scanned.get(rank)) };
            }
        });
        self.sync();
        scanned.update(|rank, value| {
            if rank >= WARP {
                // SAFETY: the slots of whole warps were written before the barrier, and not again before another one.
                let mut before = unsafe { scratch.read(0) };
                for warp in 1..rank / WARP {
                    // SAFETY: as above.
                    before = op(before, unsafe { scratch.read(warp) });
                }
                *value = op(before, *value);
            }
        });
        PerThread::from_values(scanned)
    }

    /// Returns whether any thread's value is true. PTX: `bar.red.or.pred`, one instruction (CUDA: `__syncthreads_or`).
    #[inline(always)]
    pub fn any(&self, values: &PerThread<'b, bool, THREADS>) -> bool {
        // SAFETY: a `Block` exists in block-level code only (R2), which is converged.
        unsafe { isa::barrier_any(&values.values) }
    }

    /// Returns whether all threads' values are true. PTX: `bar.red.and.pred`, one instruction (CUDA: `__syncthreads_and`).
    #[inline(always)]
    pub fn all(&self, values: &PerThread<'b, bool, THREADS>) -> bool {
        // SAFETY: as in `any`.
        unsafe { isa::barrier_all(&values.values) }
    }

    /// Returns the value of the thread of rank `rank` to all. Costs two `bar.sync`.
    ///
    /// CUDA: a value in shared memory behind `__syncthreads()`.
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
        let scratch = Scratch::<T>::new();
        self.sync();
        isa::for_each_thread(THREADS, |own| {
            if own == rank {
                // SAFETY: this thread alone accesses the slot between these two barriers.
                unsafe { scratch.write(RESULT, values.values.get(own)) };
            }
        });
        self.sync();
        // SAFETY: written before the barrier, and not again before another one.
        unsafe { scratch.read(RESULT) }
    }
}

impl<'w, const THREADS: usize> Warp<'w, '_, THREADS> {
    /// Combines the values of all lanes and returns the result to all, in the order of [`Block::reduce`]. PTX:
    /// `shfl.sync.down`, then `shfl.sync.idx`.
    ///
    /// CUDA: `cooperative_groups::reduce(tile, value, op)`.
    #[inline(always)]
    pub fn reduce<T, F>(&self, values: &PerLane<'w, T>, op: F) -> T
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        reduce_lanes(&values.values, WARP, &op).of_lane(0)
    }

    /// Combines the values of each lane and all of lower rank, in the order of [`Block::scan`]. PTX: `shfl.sync.up`.
    ///
    /// CUDA: `cooperative_groups::inclusive_scan`.
    #[inline(always)]
    pub fn scan<T, F>(&self, values: &PerLane<'w, T>, op: F) -> PerLane<'w, T>
    where
        T: Element,
        F: Fn(T, T) -> T + Uniform,
    {
        PerLane::from_values(scan_lanes(&values.values, &op))
    }

    /// Returns whether any lane's value is true. PTX: `vote.sync.any` (CUDA: `__any_sync`).
    #[inline(always)]
    pub fn any(&self, values: &PerLane<'w, bool>) -> bool {
        values.values.any()
    }

    /// Returns whether all lanes' values are true. PTX: `vote.sync.all` (CUDA: `__all_sync`).
    #[inline(always)]
    pub fn all(&self, values: &PerLane<'w, bool>) -> bool {
        values.values.all()
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
        values.values.of_lane(lane)
    }
}

/// Combines the values of each warp of `threads` threads in a tree; lane 0 has the result.
#[inline(always)]
fn reduce_lanes<T: Element, L: Lanes<T>>(values: &L, threads: usize, op: &impl Fn(T, T) -> T) -> L {
    let mut result = values.duplicate();
    let mut distance = 1;
    while distance < WARP {
        let right = result.lane_above(distance);
        result.update_ranks(|rank, value| {
            // The last warp of a block may have fewer lanes.
            if rank % WARP + distance < WARP && rank + distance < threads {
                *value = op(*value, right.of_rank(rank));
            }
        });
        distance *= 2;
    }
    result
}

/// Combines the value of each lane with those of all lower lanes of its warp.
#[inline(always)]
fn scan_lanes<T: Element, L: Lanes<T>>(values: &L, op: &impl Fn(T, T) -> T) -> L {
    let mut result = values.duplicate();
    let mut distance = 1;
    while distance < WARP {
        let left = result.lane_below(distance);
        result.update_ranks(|rank, value| {
            if rank % WARP >= distance {
                *value = op(left.of_rank(rank), *value);
            }
        });
        distance *= 2;
    }
    result
}

/// The slot of a collective's result, behind those of the 32 warps that a block can have.
const RESULT: usize = 32;

/// Refuses, at compile time, values that do not fit a slot. Each collective asks for itself, so that the error names its caller.
const fn check_value<T>() {
    assert!(size_of::<T>() <= 16 && align_of::<T>() <= 16, "collectives of the block take values of 1 to 16 bytes");
}

/// Shared memory of the collectives' own: 33 slots of 16 bytes.
struct Scratch<T> {
    first: *mut T,
}

impl<T: Element> Scratch<T> {
    #[inline(always)]
    fn new() -> Self {
        const { check_value::<T>() };
        Scratch { first: isa::scratch().cast() }
    }

    /// Writes slot `slot`.
    ///
    /// # Safety
    ///
    /// `slot <= RESULT`, and no other thread accesses the slot before the next barrier.
    #[inline(always)]
    unsafe fn write(&self, slot: usize, value: T) {
        // SAFETY: the slot lies in the scratch memory.
        let address = unsafe { self.first.byte_add(16 * slot) };
        // SAFETY: aligned to 16, and nobody else's until the next barrier.
        unsafe { address.write(value) };
    }

    /// Reads slot `slot`.
    ///
    /// # Safety
    ///
    /// `slot <= RESULT`, and a thread has written the slot before the last barrier.
    #[inline(always)]
    unsafe fn read(&self, slot: usize) -> T {
        // SAFETY: the slot lies in the scratch memory.
        let address = unsafe { self.first.byte_add(16 * slot) };
        // SAFETY: aligned to 16 and written; any bytes are a valid element.
        unsafe { address.read() }
    }
}
