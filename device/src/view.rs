//! Views of global memory: what a kernel takes as its arguments.

use core::marker::PhantomData;

use crate::block::{Block, Thread};
use crate::element::Element;
use crate::fault;
use crate::isa;
use crate::tile::{BlockLevel, Brand, HaloTile, Tile};
use crate::uniform::Uniform;

/// Global memory as tiles of `LEN` elements, read-only for the whole launch.
///
/// The last tile may be partial: what lies past the end reads as zero. The host passes `&Buffer<T>`.
pub type Tiles<'k, T, const LEN: usize> = TileView<'k, [T; LEN]>;

/// Global memory as tiles of `LEN` elements with `HALO` neighbours on either side, read-only for the whole launch.
///
/// Neighbours before the start and past the end read as zero. The host passes `&Buffer<T>`.
pub type Halos<'k, T, const LEN: usize, const HALO: usize> = TileView<'k, HaloTile<T, LEN, HALO>>;

/// Global memory seen as a row of tiles of shape `S`, read-only for the whole launch; see [`Tiles`] and [`Halos`].
///
/// # Invariants
///
/// 0. `base` points to `len` elements that are valid for reads and that nobody writes for the whole launch `'k`.
/// 1. `base` is aligned to 16 bytes.
#[derive(Clone, Copy)]
pub struct TileView<'k, S: Tile> {
    base: *const S::Element,
    len: usize,
    brand: Brand<'k>,
    shape: PhantomData<S>,
}

// SAFETY: the memory behind the pointer is read-only while the launch lasts, and there is no collective operation on a
// view that needs no `&Block`, which a closure can't have.
unsafe impl<S: Tile> Uniform for TileView<'_, S> {}

impl<'k, S: Tile> TileView<'k, S> {
    /// Makes the view of `len` elements at `base`.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold.
    pub(crate) unsafe fn new(base: *const S::Element, len: usize) -> Self {
        TileView { base, len, brand: PhantomData, shape: PhantomData }
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
        self.len.div_ceil(S::STRIDE)
    }

    /// Returns tile `index` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.tiles()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn tile(&self, index: usize) -> TileRef<'k, S> {
        if index >= self.tiles() {
            fault::out_of_range("tile index {} is out of range: the view has {} tiles", index, self.tiles());
        }
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(index) }
    }

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index on (a grid-stride loop).
    #[inline(always)]
    pub fn for_block<const THREADS: usize>(&self, block: &Block<'_, THREADS>) -> BlockTiles<'k, S> {
        let (first, stride) = (block.index(), block.grid());
        BlockTiles { view: *self, first, stride, count: share(self.tiles(), first, stride) }
    }

    /// Returns tile `index` of the view.
    ///
    /// # Safety
    ///
    /// `index < self.tiles()`.
    #[inline(always)]
    unsafe fn tile_unchecked(&self, index: usize) -> TileRef<'k, S> {
        // No overflow: `index * STRIDE < len`, and `len` elements lie in the address space (invariant 0).
        let start = index * S::STRIDE;
        let element = size_of::<S::Element>();
        let before = if start < S::LEAD { (S::LEAD - start) * element } else { 0 };
        let rest = self.len - start;
        let end = if rest < S::LEN - S::LEAD { (rest + S::LEAD) * element } else { S::BYTES };
        TileRef {
            // Perhaps outside the view, where a halo begins before it; only valid bytes are ever read.
            first: self.base.wrapping_add(start).wrapping_sub(S::LEAD).cast(),
            before: before as u32,
            end: end as u32,
            brand: PhantomData,
            shape: PhantomData,
        }
    }
}

/// How many of `tiles` tiles a block gets whose first is `first` and whose step is `stride`.
#[inline(always)]
fn share(tiles: usize, first: usize, stride: usize) -> usize {
    if first < tiles { (tiles - first).div_ceil(stride) } else { 0 }
}

/// The tiles of one block, in the order in which it works through them.
#[derive(Clone, Copy)]
pub struct BlockTiles<'k, S: Tile> {
    view: TileView<'k, S>,
    first: usize,
    stride: usize,
    count: usize,
}

impl<'k, S: Tile> BlockTiles<'k, S> {
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns the block's tile `index`, which is tile `index * grid + block` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> TileRef<'k, S> {
        if index >= self.count {
            fault::out_of_range("tile index {} is out of range: this block has {} tiles", index, self.count);
        }
        // SAFETY: `first + index * stride <= first + (count - 1) * stride < tiles` by the definition of `count` in `share`.
        unsafe { self.view.tile_unchecked(self.first + index * self.stride) }
    }
}

/// One tile of a [`TileView`], to be copied: the only source that a stage takes.
///
/// It cannot change while a copy is under way, because its memory is read-only for the whole launch `'k`.
#[derive(Clone, Copy)]
pub struct TileRef<'k, S: Tile> {
    /// The address of the tile's first byte.
    first: *const u8,
    /// Bytes of the tile before the view's start.
    before: u32,
    /// Bytes of the tile up to the view's end, or to the tile's own if that comes first.
    end: u32,
    brand: Brand<'k>,
    shape: PhantomData<S>,
}

impl<S: Tile> TileRef<'_, S> {
    /// The address of the tile's byte `offset`.
    #[inline(always)]
    pub(crate) fn address(&self, offset: usize) -> *const u8 {
        self.first.wrapping_add(offset)
    }

    /// How many of the `width` bytes from byte `offset` on lie in the view: the first so many. A unit that begins
    /// before the view counts as 0; with a `width` of at most `S::ALIGNMENT` it lies before it as a whole.
    #[inline(always)]
    pub(crate) fn valid_bytes(&self, offset: usize, width: usize) -> u32 {
        let (offset, width) = (offset as u32, width as u32);
        if S::LEAD > 0 && offset < self.before {
            return 0;
        }
        self.end.saturating_sub(offset).min(width)
    }
}

/// Global memory as tiles of `LEN` elements that this launch alone writes.
///
/// Block `b` writes the tiles `i * grid + b`, so no two blocks share one. The last tile may be partial: what a thread
/// writes past the end is dropped. The host passes `&mut Buffer<T>`.
///
/// # Invariants
///
/// 0. `base` points to `len` elements that are valid for writes and that only this launch touches.
/// 1. There is one such view of this memory in each block.
pub struct TilesMut<'k, T, const LEN: usize> {
    base: *mut T,
    len: usize,
    brand: Brand<'k>,
    level: BlockLevel,
}

impl<T, const LEN: usize> !Uniform for TilesMut<'_, T, LEN> {}
impl<T, const LEN: usize, const THREADS: usize> !Uniform for BlockTilesMut<'_, '_, T, LEN, THREADS> {}

impl<T: Element, const LEN: usize> TilesMut<'_, T, LEN> {
    /// Makes the view of `len` elements at `base`.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold, and `base` is aligned for `T`.
    pub(crate) unsafe fn new(base: *mut T, len: usize) -> Self {
        const { assert!(<[T; LEN] as Tile>::STRIDE > 0) };
        TilesMut { base, len, brand: PhantomData, level: PhantomData }
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
        self.len.div_ceil(LEN)
    }

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index on, as
    /// [`TileView::for_block`] does for an input.
    #[inline(always)]
    pub fn for_block<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> BlockTilesMut<'_, 'b, T, LEN, THREADS> {
        let (first, stride) = (block.index(), block.grid());
        BlockTilesMut {
            base: self.base,
            view_len: self.len,
            first,
            stride,
            count: share(self.tiles(), first, stride),
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
/// 0. `base` and `view_len` are those of a [`TilesMut`] that is borrowed for `'v`, and `first < stride` are the block's index
///    and the number of blocks.
/// 1. `first + i * stride` is a tile of the view for every `i < count`.
pub struct BlockTilesMut<'v, 'b, T, const LEN: usize, const THREADS: usize> {
    base: *mut T,
    view_len: usize,
    first: usize,
    stride: usize,
    count: usize,
    block: Brand<'b>,
    view: PhantomData<&'v mut T>,
    level: BlockLevel,
}

impl<'b, T: Element, const LEN: usize, const THREADS: usize> BlockTilesMut<'_, 'b, T, LEN, THREADS> {
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns the block's tile `index`, which is tile `index * grid + block` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn get_mut(&mut self, index: usize) -> TileMut<'_, 'b, T, LEN, THREADS> {
        if index >= self.count {
            fault::out_of_range("output tile index {} is out of range: this block has {} tiles", index, self.count);
        }
        // No overflow: this is the first element of a tile of the view (1).
        let start = (self.first + index * self.stride) * LEN;
        TileMut {
            first: self.base.wrapping_add(start),
            len: if self.view_len - start < LEN { self.view_len - start } else { LEN },
            block: PhantomData,
            view: PhantomData,
        }
    }
}

/// One tile of a [`TilesMut`]: thread `r` of the block owns the elements `r`, `r + THREADS`, ..
///
/// # Invariants
///
/// 0. `first` points to `len <= LEN` elements of which this value is the only way to write.
pub struct TileMut<'v, 'b, T, const LEN: usize, const THREADS: usize> {
    first: *mut T,
    len: usize,
    block: Brand<'b>,
    view: PhantomData<&'v mut T>,
}

// SAFETY: (0) a closure reaches only the elements of the thread whose token it holds, so what it writes belongs to one
// thread; (1) there is no collective operation on a tile.
unsafe impl<T: Element, const LEN: usize, const THREADS: usize> Uniform for TileMut<'_, '_, T, LEN, THREADS> {}

impl<'b, T: Element, const LEN: usize, const THREADS: usize> TileMut<'_, 'b, T, LEN, THREADS> {
    /// Returns how many of the tile's elements lie in the view: `LEN`, or fewer in the last tile.
    #[expect(clippy::len_without_is_empty, reason = "a tile of a view has an element")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes the calling thread's element number `nth`, which is element `rank + nth * THREADS` of the tile. Past the
    /// end of the view nothing is written.
    ///
    /// # Panics
    ///
    /// If there is no such element in a whole tile.
    #[inline(always)]
    #[track_caller]
    pub fn set_nth(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize, value: T) {
        if nth >= LEN.div_ceil(THREADS) {
            let owned = LEN.div_ceil(THREADS);
            fault::out_of_range("element number {} is out of range: a thread owns {} of a tile", nth, owned);
        }
        let element = thread.rank() + nth * THREADS;
        if element < self.len {
            // SAFETY: `element < len`, so the address lies in the view (invariant 0).
            let address = unsafe { self.first.add(element) };
            // SAFETY: valid for writes (invariant 0 and the line above); element `rank + nth * THREADS` belongs to this
            // thread alone, since ranks are below THREADS and the token is branded with the block of this tile.
            unsafe { isa::store_global(address, value) };
        }
    }
}

impl<'b, T: Element, const THREADS: usize> TileMut<'_, 'b, T, THREADS, THREADS> {
    /// Writes the calling thread's element, which is element `rank` of the tile. Past the end of the view nothing is
    /// written.
    #[inline(always)]
    pub fn set(&self, thread: &Thread<'_, 'b, THREADS>, value: T) {
        self.set_nth(thread, 0, value);
    }
}
