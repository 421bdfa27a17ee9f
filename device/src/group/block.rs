//! The block, its threads, and values that each thread has one of.

use core::marker::PhantomData;

use crate::isa;
use crate::marker::{BlockLevel, Brand, Uniform};

/// The threads of one block, taken together. Block-level code synchronises and divides work by this
/// value.
///
/// `THREADS` is the block's size, 1 to 1024. A kernel takes one `Block`; nobody else can make one.
/// Its lifetime is the block's brand: a token or a view of one block is of no use in another.
///
/// Block-level code runs the same way in every thread; ranks exist only inside the closures of
/// [`threads`](Self::threads), [`map`](Self::map) and [`update`](Self::update), in which a `Block`
/// can't be captured.
///
/// CUDA: `cooperative_groups::thread_block`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, TilesMut, kernel};
///
/// /// Each block writes its index, and the sum of its threads' ranks.
/// #[kernel]
/// pub fn sums_of_ranks(block: Block<64>, mut out: TilesMut<[u32; 2], 1>) {
///     // A closure runs in each thread. The sum is the same in all: block-level code may use it.
///     let ranks = block.map(|t| t.rank() as u32);
///     let sum = block.reduce(&ranks, |a, b| a + b);
///     let index = block.index() as u32;
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let result = results.get_mut(i);
///         block.threads(|t| result.set_each(&t, |_| [index, sum]));
///     }
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let mut out = device.zeroed(3)?;
/// # sums_of_ranks::launch(&device.stream()?, 3, &mut out)?;
/// # assert_eq!(out.download()?, [[0, 2016], [1, 2016], [2, 2016]]);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. The running block has `THREADS` threads in one dimension.
/// 1. The value is in block-level code: all threads of the block execute it together, in converged
///    code (R1 to R4 in SOUNDNESS.md).
/// 2. It is the block's only one, and `'b` is no other block's brand.
pub struct Block<'b, const THREADS: usize> {
    brand: Brand<'b>,
    level: BlockLevel,
}

impl<const THREADS: usize> !Uniform for Block<'_, THREADS> {}
impl<const THREADS: usize> !Uniform for Thread<'_, '_, THREADS> {}

impl<'b, const THREADS: usize> Block<'b, THREADS> {
    /// Trusts the caller that the calling threads are converged. This is for thread-level kernels
    /// that are written with other Rust GPU crates and call into tilepipe.
    ///
    /// # Safety
    ///
    /// 0. All threads of the block make this call together, and all of them execute every later
    ///    operation on the returned block and on what is made from it, in the same order, in
    ///    converged code.
    /// 1. The block has `THREADS` threads in one dimension.
    /// 2. No other `Block` is in use in this block.
    /// 3. If a collective of the block or of a role is used, the last 656 bytes of the launch's
    ///    dynamic shared memory, whose size is a multiple of 16, are nobody else's.
    pub unsafe fn assume_converged() -> Self {
        const { assert!(THREADS >= 1 && THREADS <= 1024, "a block has 1 to 1024 threads") };
        Block { brand: PhantomData, level: PhantomData }
    }

    /// Returns the block's index in the grid (CUDA: `blockIdx.x`).
    #[inline(always)]
    pub fn index(&self) -> usize {
        isa::block_index() as usize
    }

    /// Returns the number of blocks in the grid (CUDA: `gridDim.x`).
    #[inline(always)]
    pub fn grid(&self) -> usize {
        isa::grid_blocks() as usize
    }

    /// Waits for all threads of the block (CUDA: `__syncthreads()`; PTX: `bar.sync 0`).
    ///
    /// Pipelines synchronise by themselves; safe kernels rarely need this.
    #[inline(always)]
    pub fn sync(&self) {
        // SAFETY: a `Block` exists in block-level code only (R1 and R2 in SOUNDNESS.md), which is
        // converged.
        unsafe { isa::barrier() };
    }

    /// Lets the next kernel in the stream start before this one has ended, once each block of this
    /// one has said so or has ended.
    ///
    /// It changes no result: a kernel for sm_90 and newer waits for the end of the one before it,
    /// whose writes it sees then, before it touches global memory. So what the next kernel does up
    /// to there, and its start, take no time of their own: about a microsecond on an H200. That
    /// pays in kernels of up to some 25 microseconds whose successors have as many blocks.
    /// Otherwise it may cost more: the next kernel's blocks get multiprocessors as these come free,
    /// so neighbours, which often read the same rows, no longer run side by side, and a few small
    /// blocks may all share the multiprocessors that have nothing to do.
    ///
    /// A kernel that does not say so lets the next one start when all its blocks have ended, which
    /// saves a third of that time. On the CPU nothing happens.
    ///
    /// CUDA: `cudaTriggerProgrammaticLaunchCompletion()`; PTX:
    /// `griddepcontrol.launch_dependents`. It needs sm_90.
    #[inline(always)]
    pub fn launch_dependents(&self) {
        isa::launch_dependents();
    }

    /// Runs `body` once in every thread.
    ///
    /// `body` may capture [`Uniform`] values only, and what it computes stays in it: results go out
    /// through a [`TileMut`](crate::TileMut).
    #[inline(always)]
    pub fn threads<F>(&self, body: F)
    where
        F: for<'t> Fn(Thread<'t, 'b, THREADS>) + Uniform,
    {
        // SAFETY: `for_each_thread` passes the calling thread's rank in the block, which is below
        // THREADS and no other's; `'b` is its brand (2).
        let run = |rank| body(unsafe { Thread::new(rank) });
        // SAFETY: the block has THREADS threads in one dimension (0).
        unsafe { isa::for_each_thread(THREADS, run) };
    }

    /// Runs `body` once in every thread and keeps each thread's result for it.
    #[inline(always)]
    pub fn map<T, F>(&self, body: F) -> PerThread<'b, T, THREADS>
    where
        T: PerThreadValue,
        F: for<'t> Fn(Thread<'t, 'b, THREADS>) -> T + Uniform,
    {
        self.map_of(body)
    }

    /// As [`map`](Self::map), for closures of this crate that capture what users' may not.
    #[inline(always)]
    pub(crate) fn map_of<T: PerThreadValue>(
        &self,
        body: impl for<'t> Fn(Thread<'t, 'b, THREADS>) -> T,
    ) -> PerThread<'b, T, THREADS> {
        // SAFETY: `new` passes the calling thread's rank in the block, which is below THREADS and
        // no other's; `'b` is its brand (2).
        let run = |rank| body(unsafe { Thread::new(rank) });
        // SAFETY: block-level code of a block of THREADS (0, 1).
        PerThread::from_values(unsafe { isa::PerThread::new(run) })
    }

    /// Runs `body` once in every thread with that thread's own value.
    #[inline(always)]
    pub fn update<T, F>(&self, values: &mut PerThread<'b, T, THREADS>, body: F)
    where
        T: PerThreadValue,
        F: for<'t> Fn(Thread<'t, 'b, THREADS>, &mut T) + Uniform,
    {
        // SAFETY: `update` passes the calling thread's rank in the block, which is below THREADS
        // and no other's; `'b` is its brand (2).
        let run = |rank, value: &mut T| body(unsafe { Thread::new(rank) }, value);
        // SAFETY: block-level code of a block of THREADS (0, 1).
        unsafe { values.values.update(run) };
    }
}

/// One thread of a block, inside one per-thread closure: the token that knows the thread's rank.
///
/// It lives as long as the closure's call (`'t`) and is branded with its block (`'b`), so it can be
/// neither kept, returned nor used with another block's views. It has no `Clone`, no `Send` and no
/// public constructor.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, TilesMut, kernel};
///
/// /// How many steps of the Collatz sequence lead from each number to 1.
/// #[kernel]
/// pub fn collatz(block: Block<32>, mut out: TilesMut<u32, 32>) {
///     let mut results = out.for_block(&block);
///     let result = results.get_mut(0);
///     block.threads(|t| {
///         // Threads may take different paths here: each loops as often as its own number needs.
///         let (mut number, mut steps) = (t.rank() + 1, 0);
///         while number != 1 {
///             number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
///             steps += 1;
///         }
///         // The token says which element is the thread's own.
///         result.set(&t, steps);
///     });
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let mut out = device.zeroed(32)?;
/// # collatz::launch(&device.stream()?, 1, &mut out)?;
/// # assert_eq!(out.download()?[..9], [0, 1, 7, 2, 5, 8, 16, 3, 19]);
/// # Ok(())
/// # }
/// ```
///
/// # Invariants
///
/// 0. `rank` is the calling thread's rank in the block, warp or role of `THREADS` threads, or in
///    the group of this thread alone, that `'b` is the brand of: it is below `THREADS`, and no
///    other thread of that group has it.
pub struct Thread<'t, 'b, const THREADS: usize> {
    rank: usize,
    call: Brand<'t>,
    block: Brand<'b>,
    level: BlockLevel,
}

impl<'t, const THREADS: usize> Thread<'t, '_, THREADS> {
    /// Makes the token of a thread.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds, for the brand that the caller gives it.
    #[inline(always)]
    pub(crate) unsafe fn new(rank: usize) -> Self {
        Thread { rank, call: PhantomData, block: PhantomData, level: PhantomData }
    }

    /// Returns the thread's rank in its block, `0..THREADS` (CUDA: `thread_rank()`, `threadIdx.x`).
    #[inline(always)]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the thread's token as the only one of a group: for tiles of an output that the
    /// thread has for itself, [`MembersTilesMut::for_thread`](crate::MembersTilesMut::for_thread).
    #[inline(always)]
    pub fn alone(&self) -> Thread<'t, 't, 1> {
        // SAFETY: `'t` is the brand of this call, which this thread alone makes: a group of one.
        unsafe { Thread::new(0) }
    }
}

/// A value that each thread can have its own copy of: `Copy` and [`Uniform`] in its type.
#[diagnostic::on_unimplemented(
    message = "a closure that runs per thread or per warp can't return or keep a `{Self}`",
    label = "this leaves the closure",
    note = "what a thread keeps in `PerThread`, or a lane in `PerLane`, is `Copy` plain data; the tokens `Thread`, `Lane` and \
            `Warp` and a pipeline of one's own end with their closure, and `&mut`, cells and raw pointers are ways to numbers"
)]
pub trait PerThreadValue: Copy + Uniform {}

#[diagnostic::do_not_recommend]
impl<T: Copy + Uniform> PerThreadValue for T {}

/// One `T` per thread, in registers.
///
/// This is the only way for a thread-dependent value to leave a per-thread closure. Block-level
/// code can hand it back to a closure ([`Block::update`], [`get`](Self::get)) but can't look into
/// it, so no decision of block-level code depends on a thread. Therefore it has no `Deref`,
/// `PartialEq` or `Debug`.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input, TilesMut, kernel};
///
/// /// The sum of each column of a matrix with 64 columns.
/// #[kernel]
/// pub fn column_sums(block: Block<64>, input: Input<u32>, mut out: TilesMut<u32, 64>) {
///     let mut sums = block.map(|_| 0); // a sum for each thread
///     for row in 0..input.len() / 64 {
///         block.update(&mut sums, |t, sum| *sum += input.at(64 * row + t.rank()));
///     }
///     let mut results = out.for_block(&block);
///     let result = results.get_mut(0);
///     block.threads(|t| result.set(&t, sums.get(&t)));
/// }
///
/// # fn main() -> Result<(), tilepipe_host::Error> {
/// # let device = tilepipe_host::Device::cpu(tilepipe_host::Schedule::Lazy);
/// # let input = device.upload(&Vec::from_iter(0..64 * 3))?;
/// # let mut out = device.zeroed(64)?;
/// # column_sums::launch(&device.stream()?, 1, &input, &mut out)?;
/// # assert_eq!(out.download()?, Vec::from_iter((0..64).map(|column| 3 * column + 64 + 128)));
/// # Ok(())
/// # }
/// ```
pub struct PerThread<'b, T, const THREADS: usize> {
    pub(crate) values: isa::PerThread<T, THREADS>,
    brand: Brand<'b>,
}

// SAFETY: (0) through a shared reference a thread reads its own value only, and writes none; (1) it
// has no collective operation.
unsafe impl<T: PerThreadValue, const THREADS: usize> Uniform for PerThread<'_, T, THREADS> {}

impl<'b, T: PerThreadValue, const THREADS: usize> PerThread<'b, T, THREADS> {
    #[inline(always)]
    pub(crate) fn from_values(values: isa::PerThread<T, THREADS>) -> Self {
        PerThread { values, brand: PhantomData }
    }

    /// Returns the calling thread's own value.
    #[inline(always)]
    pub fn get(&self, thread: &Thread<'_, 'b, THREADS>) -> T {
        self.values.get(thread.rank)
    }
}
