//! Output views of global memory: what a kernel writes.

use core::marker::PhantomData;

use crate::element::Element;
use crate::fault;
use crate::group::block::{Block, Thread};
use crate::isa;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::tile::Tile;
use crate::view::numbers::{TileNumbers, pieces};

/// Which elements of an output tile a thread owns: [`Striped`] or [`Blocked`]. Sealed.
///
/// It is part of the view's type, so that two threads never come to own one element.
pub trait Arrangement: 'static + sealed::Arrangement {}

/// Thread `r` owns the elements `r`, `r + THREADS`, `r + 2 * THREADS`, .. of a tile: neighbouring
/// threads write neighbouring elements. (CUB's striped arrangement.)
pub enum Striped {}

/// Thread `r` owns `LEN / THREADS` elements in a row, from `r * LEN / THREADS` on, as
/// [`Ready::own`](crate::Ready::own) of a tile has them. (CUB's blocked arrangement.)
pub enum Blocked {}

impl Arrangement for Striped {}
impl Arrangement for Blocked {}

mod sealed {
    pub trait Arrangement {
        /// The tile's element that thread `rank` of `threads` owns as its `nth` of `owned`. One
        /// thread's elements are no other thread's, for ranks below `threads` and `nth` below
        /// `owned`, where `threads * owned` does not overflow.
        fn element(rank: usize, nth: usize, threads: usize, owned: usize) -> usize;
    }
}

impl sealed::Arrangement for Striped {
    #[inline(always)]
    fn element(rank: usize, nth: usize, threads: usize, _: usize) -> usize {
        rank + nth * threads
    }
}

impl sealed::Arrangement for Blocked {
    #[inline(always)]
    fn element(rank: usize, nth: usize, _: usize, owned: usize) -> usize {
        rank * owned + nth
    }
}

/// Global memory as tiles of `LEN` elements that this launch alone writes.
///
/// Block `b` writes the tiles `i * grid + b`, so no two blocks share one; in a tile each thread
/// writes the elements that the arrangement `A` gives it. The last tile may be partial: what a
/// thread writes past the end is dropped. The host passes `&mut Buffer<T>`.
///
/// # Invariants
///
/// 0. `base` points to `len` elements that are valid for writes and that only this launch touches.
/// 1. There is one such view of this memory in each block.
/// 2. `base` is aligned to 16 bytes.
/// 3. `LEN` is 1 to `u32::MAX`.
pub struct TilesMut<'k, T, const LEN: usize, A = Striped> {
    base: *mut T,
    len: usize,
    brand: Brand<'k>,
    level: BlockLevel,
    arrangement: PhantomData<A>,
}

impl<T, const LEN: usize, A> !Uniform for TilesMut<'_, T, LEN, A> {}
impl<T, const LEN: usize, const THREADS: usize, A> !Uniform for BlockTilesMut<'_, '_, T, LEN, THREADS, A> {}

impl<T: Element, const LEN: usize, A: Arrangement> TilesMut<'_, T, LEN, A> {
    /// Makes the view of `len` elements at `base`.
    ///
    /// # Safety
    ///
    /// The invariants 0 to 2 hold; 3 is asserted here.
    pub(crate) unsafe fn new(base: *mut T, len: usize) -> Self {
        const { assert!(<[T; LEN] as Tile>::STRIDE > 0 && <[T; LEN] as Tile>::LEN > 0) };
        TilesMut { base, len, brand: PhantomData, level: PhantomData, arrangement: PhantomData }
    }

    /// Returns the number of elements in the view.
    #[expect(clippy::len_without_is_empty, reason = "the host passes no empty view")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of tiles in the view, the partial last one included.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        pieces(self.len, LEN)
    }

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index
    /// on, as [`TileView::for_block`](crate::TileView::for_block) does for an input.
    #[inline(always)]
    pub fn for_block<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> BlockTilesMut<'_, 'b, T, LEN, THREADS, A> {
        let _ = block;
        self.for_group()
    }

    /// The tiles of this block, for a group of `THREADS` with the brand `'b`.
    #[inline(always)]
    pub(crate) fn for_group<'b, const THREADS: usize>(&mut self) -> BlockTilesMut<'_, 'b, T, LEN, THREADS, A> {
        let numbers = TileNumbers::of_block(self.tiles());
        BlockTilesMut {
            base: self.base,
            view_len: self.len,
            numbers,
            count: numbers.count(),
            whole: false,
            block: PhantomData,
            view: PhantomData,
            level: PhantomData,
        }
    }
}

/// The output tiles of one block, in the order in which it works through them.
///
/// # Invariants
///
/// 0. `base` and `view_len` are those of a [`TilesMut`] that is borrowed for `'v`, and `numbers` is
///    this block's.
/// 1. The numbers of `numbers` are those of tiles of the view, `count` in all.
/// 2. If `whole`, each of these tiles lies within the view as a whole.
/// 3. `LEN` is 1 to `u32::MAX`, as for the view.
pub struct BlockTilesMut<'v, 'b, T, const LEN: usize, const THREADS: usize, A = Striped> {
    base: *mut T,
    view_len: usize,
    numbers: TileNumbers,
    count: usize,
    whole: bool,
    block: Brand<'b>,
    view: PhantomData<(&'v mut T, A)>,
    level: BlockLevel,
}

impl<'b, T: Element, const LEN: usize, const THREADS: usize, A: Arrangement> BlockTilesMut<'_, 'b, T, LEN, THREADS, A> {
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Which of the view's tiles they are.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> TileNumbers {
        self.numbers
    }

    /// Returns the block's tile `index`, which is tile `index * grid + block` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn get_mut(&mut self, index: usize) -> TileMut<'_, 'b, T, LEN, THREADS, A> {
        self.tile(index)
    }

    /// Returns several of the block's tiles at a time, to be written in one closure.
    ///
    /// # Panics
    ///
    /// If an index is not below `self.len()`, or if two are the same.
    #[inline(always)]
    #[track_caller]
    pub fn get_disjoint_mut<const COUNT: usize>(
        &mut self,
        indices: [usize; COUNT],
    ) -> [TileMut<'_, 'b, T, LEN, THREADS, A>; COUNT] {
        for (position, index) in indices.iter().enumerate() {
            if indices[..position].contains(index) {
                fault::out_of_range("output tile {} is asked for twice, of {} tiles at a time", *index, COUNT);
            }
        }
        indices.map(|index| self.tile(index))
    }

    /// A bound on tile numbers: all of the block's tiles with lower numbers exist and lie within
    /// the view as a whole.
    #[inline(always)]
    pub(crate) fn whole_below(&self) -> usize {
        if self.whole { self.numbers.end() } else { self.view_len / LEN }
    }

    /// The same tiles, counted here.
    #[inline(always)]
    pub(crate) fn counted(self) -> Self {
        BlockTilesMut { count: self.numbers.count(), ..self }
    }

    /// The same tiles, known to be whole, and known to be as many as those of another view.
    ///
    /// # Safety
    ///
    /// `self.len() == count`, and the share lies below `self.whole_below()`.
    #[inline(always)]
    pub(crate) unsafe fn known_whole(self, count: usize) -> Self {
        BlockTilesMut { count, whole: true, ..self }
    }

    /// Returns the block's tile `index`.
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked_mut(&mut self, index: usize) -> TileMut<'_, 'b, T, LEN, THREADS, A> {
        // SAFETY: the caller's promise; the borrow of `self` sees to it that there is no other
        // value for this tile.
        unsafe { self.tile_unchecked(index) }
    }

    /// Returns the block's tile `index`.
    ///
    /// # Safety
    ///
    /// The block's tile `index` has a number below [`whole_below`](Self::whole_below).
    #[inline(always)]
    pub(crate) unsafe fn get_whole_mut(&mut self, index: usize) -> TileMut<'_, 'b, T, LEN, THREADS, A> {
        // SAFETY: the caller's promise, and as above.
        let tile = unsafe { self.tile_unchecked(index) };
        TileMut { len: LEN, ..tile }
    }

    /// The block's tile `index`; callers see to it that no other value for this tile exists at the
    /// same time.
    #[inline(always)]
    #[track_caller]
    fn tile<'t>(&self, index: usize) -> TileMut<'t, 'b, T, LEN, THREADS, A> {
        if index >= self.len() {
            fault::out_of_range("output tile index {} is out of range: this block has {} tiles", index, self.len());
        }
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(index) }
    }

    /// As [`tile`](Self::tile).
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    #[inline(always)]
    unsafe fn tile_unchecked<'t>(&self, index: usize) -> TileMut<'t, 'b, T, LEN, THREADS, A> {
        // No overflow: this is the first element of a tile of the view (1).
        let start = self.numbers.number(index) * LEN;
        TileMut {
            first: self.base.wrapping_add(start),
            len: if !self.whole && self.view_len - start < LEN { self.view_len - start } else { LEN },
            block: PhantomData,
            view: PhantomData,
        }
    }
}

/// One tile of a [`TilesMut`], in which each thread of the block owns the elements that the
/// arrangement `A` gives it.
///
/// # Invariants
///
/// 0. `first` points to `len <= LEN` elements, and this value is the only way to write them.
/// 1. `first` lies a multiple of `LEN` elements after an address aligned to 16.
/// 2. `LEN` is 1 to `u32::MAX`, as for the view.
pub struct TileMut<'v, 'b, T, const LEN: usize, const THREADS: usize, A = Striped> {
    first: *mut T,
    len: usize,
    block: Brand<'b>,
    view: PhantomData<(&'v mut T, A)>,
}

// SAFETY: (0) a closure reaches only the elements of the thread whose token it holds, so what it
// writes belongs to one thread; (1) there is no collective operation on a tile.
unsafe impl<T: Element, const LEN: usize, const THREADS: usize, A> Uniform for TileMut<'_, '_, T, LEN, THREADS, A> {}

impl<'b, T: Element, const LEN: usize, const THREADS: usize, A: Arrangement> TileMut<'_, 'b, T, LEN, THREADS, A> {
    /// How many elements of a whole tile a thread owns.
    pub const PER_THREAD: usize = LEN.div_ceil(THREADS);

    /// Returns how many of the tile's elements lie in the view: `LEN`, or fewer in the last tile.
    #[expect(clippy::len_without_is_empty, reason = "a tile of a view has an element")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns which element of the tile is the calling thread's element number `nth`:
    /// `rank + nth * THREADS` if the arrangement is [`Striped`], `rank * PER_THREAD + nth` if it is
    /// [`Blocked`]. It may lie past the tile's end.
    #[inline(always)]
    pub fn element(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize) -> usize {
        A::element(thread.rank(), nth, THREADS, Self::PER_THREAD)
    }

    /// Writes the calling thread's element number `nth`. Past the end of the view nothing is
    /// written.
    ///
    /// # Panics
    ///
    /// If `nth >= Self::PER_THREAD`.
    #[inline(always)]
    #[track_caller]
    pub fn set_nth(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize, value: T) {
        if nth >= Self::PER_THREAD {
            let owned = Self::PER_THREAD;
            fault::out_of_range("element number {} is out of range: a thread owns {} of a tile", nth, owned);
        }
        let element = self.element(thread, nth);
        if element < self.len {
            // SAFETY: `element < len`, so the address lies in the view (invariant 0).
            let address = unsafe { self.first.add(element) };
            // SAFETY: valid for writes (invariant 0 and the line above). The element belongs to
            // this thread alone: the token is the calling thread's in the group that this tile is
            // branded with, its rank is below THREADS (`Thread`, 0), `nth` is below PER_THREAD
            // (checked), and the arrangement is the view's, which gives different ranks different
            // elements. Its arithmetic does not wrap: both `rank + nth * THREADS` and
            // `rank * PER_THREAD + nth` are below `LEN + 2 * THREADS`, and LEN is at most
            // `u32::MAX` (2).
            unsafe { isa::store_global(address, value) };
        }
    }

    /// Writes all of the calling thread's elements: `value(e)` for each element `e` of the tile
    /// that it owns and that lies in the view.
    #[inline(always)]
    pub fn set_each(&self, thread: &Thread<'_, 'b, THREADS>, value: impl Fn(usize) -> T) {
        for nth in 0..Self::PER_THREAD {
            let element = self.element(thread, nth);
            if element < self.len {
                self.set_nth(thread, nth, value(element));
            }
        }
    }
}

impl<'b, T: Element, const THREADS: usize, A: Arrangement> TileMut<'_, 'b, T, THREADS, THREADS, A> {
    /// Writes the calling thread's element, which is element `rank` of the tile. Past the end of
    /// the view nothing is written.
    #[inline(always)]
    pub fn set(&self, thread: &Thread<'_, 'b, THREADS>, value: T) {
        self.set_nth(thread, 0, value);
    }
}

impl<'b, T: Element, const LEN: usize, const THREADS: usize> TileMut<'_, 'b, T, LEN, THREADS, Blocked> {
    /// Writes the calling thread's `N` elements, which lie in a row, in the widest accesses that
    /// their alignment allows: PTX `st.global.v4` for 16 bytes. Past the end of the view nothing is
    /// written.
    ///
    /// `N` is `LEN / THREADS`, or it does not compile.
    #[inline(always)]
    pub fn set_all<const N: usize>(&self, thread: &Thread<'_, 'b, THREADS>, values: [T; N]) {
        const {
            assert!(
                N * THREADS == LEN,
                "`set_all` takes all elements that a thread owns, `LEN / THREADS` of them, of a tile whose length is a multiple of \
                 THREADS; `set_nth` writes one, `set_each` those that there are"
            )
        };
        let start = self.element(thread, 0);
        if start + N <= self.len {
            // SAFETY: `start < len`, so the address lies in the view (invariant 0).
            let address = unsafe { self.first.add(start) };
            // SAFETY: N elements from there on lie in the view and belong to this thread (as in
            // `set_nth`). The address lies a multiple of N elements after an aligned one: LEN is a
            // multiple of N (1), and so is `start = rank * N`.
            unsafe { isa::store_global_row(address, values) };
        } else {
            for (nth, value) in values.into_iter().enumerate() {
                self.set_nth(thread, nth, value);
            }
        }
    }
}
