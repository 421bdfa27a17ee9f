//! Bins that threads add to.

use core::marker::PhantomData;
use core::ops::Index;

use super::counts::Counts;
use super::group::BinsGroup;
use super::layout::Bins;
use crate::element::Element;
use crate::fault;
use crate::isa::{self, WARP};
use crate::marker::{BlockLevel, Brand, Named, RoleShared, Uniform};
use crate::memory::Shared;
use crate::output::reduction::{AddingThread, AtomicOperation};

/// `LEN` bins in shared memory that threads add to, by the operation `O`.
///
/// [`Shared::bins`] makes them of [`Bins`]. Any thread may [`add`](Self::add) to any bin, in
/// closures of the block, of a warp and, if the block has made the bins, of several roles at once.
/// Nobody can read them meanwhile: [`publish`](Self::publish) takes them, and [`read`](Self::read)
/// borrows them as nobody else does.
///
/// # Invariants
///
/// 0. `COPIES` times `LEN` bins from `base` on, `offset` bytes into the block's shared memory,
///    belong to this value, and are initialised, as is the memory behind them up to a multiple of
///    16 bytes.
/// 1. All threads that have the value have met since the bins were last accessed otherwise than by
///    `isa::reduce_shared`.
/// 2. The threads of the group `G` have made it together, and its brand is in the type.
#[must_use = "what is added to bins is lost without `publish` or `read`"]
pub struct OpenBins<'s, T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> {
    base: *mut T,
    offset: usize,
    memory: Brand<'s>,
    level: BlockLevel,
    named: Named<(O, P)>,
    group: PhantomData<fn(G) -> G>,
}

// SAFETY: (0) what can be written through a shared reference is written by `add` alone, by
// commutative updates, and nobody can read the bins while a shared reference exists: `read` takes
// `&mut self`, `publish` and `finish` take `self`; (1) `add` is no collective operation, and it is
// the only function that takes a shared reference; (2) the bins are memory of the block, which is
// bound to no OS thread.
unsafe impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> Uniform
    for OpenBins<'_, T, LEN, O, COPIES, P, G>
{
}
// SAFETY: commutative updates of bins that nobody can read while a shared reference exists: (0)
// above.
unsafe impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G> RoleShared
    for OpenBins<'_, T, LEN, O, COPIES, P, G>
{
}

/// Says that a bin can be read while threads add. It holds for no index, and exists for its
/// message.
#[diagnostic::on_unimplemented(
    message = "these bins can't be read: other threads may be adding to them",
    label = "not published",
    note = "end the adds first, `let counts = bins.publish(&block);`, and read `counts[i]`; or read them in between, \
            `bins.read(&block, |counts| ..)`, outside of closures that run per thread"
)]
pub trait ReadWhileAdding {
    /// There is no such index.
    fn never(&self) -> !;
}

impl<T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G, I: ReadWhileAdding> Index<I>
    for OpenBins<'_, T, LEN, O, COPIES, P, G>
{
    type Output = T;

    fn index(&self, index: I) -> &T {
        index.never()
    }
}

impl<'s, T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P>
    Shared<'s, Bins<T, LEN, O, COPIES>, P>
{
    /// Makes the bins, each of which holds what changes no value that it is combined with: 0 for
    /// sums, the greatest number for [`Min`](crate::reduce::Min). It costs one `bar.sync`.
    ///
    /// # Threads
    ///
    /// The block, or a role of whole warps that this memory was handed to.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::reduce::Add;
    /// use tilepipe::{Bins, Block, Reduction, Shared, Tiles, kernel};
    ///
    /// /// How many elements there are of each of 16 classes.
    /// #[kernel]
    /// fn classes(
    ///     block: Block<128>,
    ///     input: Tiles<u8, 128>,
    ///     out: Reduction<u32, Add>,
    ///     shared: Shared<Bins<u32, 16, Add>>,
    /// ) {
    ///     let bins = shared.bins(&block);
    ///     let tiles = input.for_block(&block);
    ///     for i in 0..tiles.len() {
    ///         let first = 128 * tiles.number(i);
    ///         block.threads(|t| {
    ///             if let Some(element) = input.get(first + t.rank()) {
    ///                 bins.add(&t, (element / 16) as usize, 1);
    ///             }
    ///         });
    ///     }
    ///     bins.publish(&block).add_to(&block, &out);
    /// }
    ///
    /// fn main() -> Result<(), tilepipe_host::Error> {
    ///     let device = tilepipe_host::Device::cpu(Default::default());
    ///     let input = device.upload(&Vec::from_iter(0..=255_u8))?;
    ///     let mut out = device.zeroed(16)?;
    ///     classes::launch(&device.stream()?, 2, &input, &mut out)?;
    ///     assert_eq!(out.download()?, [16; 16]);
    ///     Ok(())
    /// }
    /// ```
    #[inline(always)]
    pub fn bins<G: BinsGroup>(self, group: &G) -> OpenBins<'s, T, LEN, O, COPIES, P, G> {
        let _ = group;
        let bins = OpenBins {
            base: self.base().cast(),
            offset: self.offset(),
            memory: PhantomData,
            level: PhantomData,
            named: PhantomData,
            group: PhantomData,
        };
        // SAFETY: the memory is this value's from here on, no copy into it is in flight, and nobody
        // reads it (`Shared`, 0); all threads of the group make the call, in code of its level.
        unsafe { bins.clear() };
        bins
    }
}

impl<'s, T: Element, const LEN: usize, O: AtomicOperation<T>, const COPIES: usize, P, G>
    OpenBins<'s, T, LEN, O, COPIES, P, G>
{
    /// Combines bin `index` with `value`, by the operation `O`.
    ///
    /// PTX: `atom.shared`. Its order among those of other threads is any.
    ///
    /// # Threads
    ///
    /// Any one thread, of the block, a warp or a role.
    ///
    /// # Panics
    ///
    /// If `index >= LEN`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn add(&self, thread: &impl AddingThread, index: usize, value: T) {
        if index >= LEN {
            fault::out_of_range("index {} is out of range: there are {} bins", index, LEN);
        }
        let copy = thread.rank_in_group() / WARP % COPIES;
        let (all, index) = (Bins::<T, LEN, O, COPIES>::ALL, copy * LEN + index);
        // SAFETY: (0) one of the bins (0), since it is below LEN and the copy below COPIES; (1) all
        // threads have met since other accesses (1), and there are none before they meet again:
        // whatever reads the bins takes this value, or borrows it as nobody else does; (2) the
        // table has the operation, and its kind of the element.
        unsafe { isa::reduce_shared::<O::Code, T>(self.base, all, index, value, O::KIND) };
    }

    /// Ends the adds: from here on all threads may read the bins. It costs one `bar.sync`, and with
    /// several copies a second one, between which each thread combines those of its own bins.
    ///
    /// # Threads
    ///
    /// The block or role that made the bins.
    #[inline(always)]
    pub fn publish(self, group: &G) -> Counts<'s, T, LEN, O, COPIES, P, G>
    where
        G: BinsGroup,
    {
        let _ = group;
        // SAFETY: all threads of the group make the call, in code of its level (2), and this value
        // is gone: nobody adds from here on.
        unsafe { self.combine_copies() };
        // SAFETY: the memory was this value's (0), all threads have met, and the first copy holds
        // what was added; only `Counts` accesses it from here on.
        unsafe { Counts::new(self.base, self.offset) }
    }

    /// Lets block-level code read the bins, and makes them anew. It costs three `bar.sync`, and
    /// with several copies a fourth.
    ///
    /// # Threads
    ///
    /// The block or role that made the bins.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe::reduce::Max;
    /// # use tilepipe::{Bins, Block, Shared, TilesMut, kernel};
    /// /// For each round the greatest of the threads' numbers, by the thread's parity.
    /// #[kernel]
    /// fn rounds(block: Block<64>, mut out: TilesMut<u32, 2>, shared: Shared<Bins<u32, 2, Max>>) {
    ///     let mut bins = shared.bins(&block);
    ///     let mut results = out.for_block(&block);
    ///     for round in 0..results.len() {
    ///         block.threads(|t| bins.add(&t, t.rank() % 2, (round * t.rank()) as u32));
    ///         let [even, odd] = bins.read(&block, |greatest| **greatest);
    ///         let result = results.get_mut(round);
    ///         block.threads(|t| result.set_each(&t, |i| if i == 0 { even } else { odd }));
    ///     }
    /// }
    /// # fn main() -> Result<(), tilepipe_host::Error> {
    /// # let device = tilepipe_host::Device::cpu(Default::default());
    /// # let mut out = device.zeroed(6)?;
    /// # rounds::launch(&device.stream()?, 1, &mut out)?;
    /// # assert_eq!(out.download()?, [0, 0, 62, 63, 124, 126]);
    /// # Ok(())
    /// # }
    /// ```
    #[inline(always)]
    pub fn read<R>(&mut self, group: &G, read: impl FnOnce(&Counts<'s, T, LEN, O, COPIES, P, G>) -> R) -> R
    where
        G: BinsGroup,
    {
        let _ = group;
        // SAFETY: all threads of the group make the call, in code of its level (2), and no shared
        // reference exists by which somebody could add.
        unsafe { self.combine_copies() };
        // SAFETY: as in `publish`; this value is borrowed until `read` returns, and its result
        // can't hold the reference that it gets.
        let result = read(&unsafe { Counts::new(self.base, self.offset) });
        // SAFETY: all threads of the group make the call, in code of its level.
        unsafe { G::meet() };
        // SAFETY: the memory is this value's (0), and all threads that read it have met; all make
        // this call.
        unsafe { self.clear() };
        result
    }

    /// Gives the memory back; what was added is lost. It costs one `bar.sync`.
    ///
    /// # Threads
    ///
    /// The block or role that made the bins.
    #[inline(always)]
    pub fn finish(self, group: &G) -> Shared<'s, Bins<T, LEN, O, COPIES>, P>
    where
        G: BinsGroup,
    {
        let _ = group;
        // SAFETY: all threads of the group make the call, in code of its level (2).
        unsafe { G::meet() };
        // SAFETY: the memory was this value's, no copy goes there (0), and all threads that added
        // have met. It starts where it did.
        unsafe { Shared::new(self.offset) }
    }

    /// Stores what changes nothing to all bins, by owners, and waits for all threads.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call, in code of its level. The memory belongs to this
    /// value, and no thread accesses it meanwhile but in this call.
    #[inline(always)]
    unsafe fn clear(&self)
    where
        G: BinsGroup,
    {
        let clear = |rank| {
            let mut piece = rank;
            while piece < Bins::<T, LEN, O, COPIES>::PIECES {
                let to = self.base.wrapping_byte_add(16 * piece);
                match const { size_of::<T>() } {
                    // SAFETY: 16 bytes in shared memory. They lie within the layout, aligned to 16,
                    // and this thread alone accesses them before it arrives at the barrier below.
                    2 => unsafe { isa::store_shared_row(to, [O::IDENTITY; 8]) },
                    // SAFETY: 16 bytes in shared memory. They lie within the layout, aligned to 16,
                    // and this thread alone accesses them before it arrives at the barrier below.
                    4 => unsafe { isa::store_shared_row(to, [O::IDENTITY; 4]) },
                    // SAFETY: 16 bytes in shared memory: other values of the table have 8 bytes.
                    // They lie within the layout, aligned to 16, and this thread alone accesses
                    // them before it arrives at the barrier below.
                    _ => unsafe { isa::store_shared_row(to, [O::IDENTITY; 2]) },
                }
                piece += G::THREADS;
            }
        };
        // SAFETY: the calling thread is one of the group (the caller's promise).
        unsafe { G::each(clear) };
        // SAFETY: the caller's promise.
        unsafe { G::meet() };
    }

    /// Waits for all threads, and puts into each bin of the first copy what was added to all.
    ///
    /// # Safety
    ///
    /// All threads of the group make this call, in code of its level, and nobody adds any more.
    #[inline(always)]
    unsafe fn combine_copies(&self)
    where
        G: BinsGroup,
    {
        // SAFETY: the caller's promise.
        unsafe { G::meet() };
        if COPIES > 1 {
            let combine = |rank| {
                let mut index = rank;
                while index < LEN {
                    // SAFETY: a bin of the first copy, initialised (0); all threads have met since
                    // the last add, and of those this one alone accesses this bin's copies.
                    let mut value = unsafe { self.base.wrapping_add(index).read() };
                    let mut copy = 1;
                    while copy < COPIES {
                        // SAFETY: likewise, of another copy.
                        value = O::combine(value, unsafe { self.base.wrapping_add(copy * LEN + index).read() });
                        copy += 1;
                    }
                    // SAFETY: a bin of the first copy, which no other thread accesses before this
                    // one arrives at the barrier below.
                    unsafe { isa::store_shared(self.base.wrapping_add(index), value) };
                    index += G::THREADS;
                }
            };
            // SAFETY: the calling thread is one of the group (the caller's promise).
            unsafe { G::each(combine) };
            // SAFETY: the caller's promise.
            unsafe { G::meet() };
        }
        isa::bins_read(self.base.cast(), LEN * size_of::<T>());
    }
}
