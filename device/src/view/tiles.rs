//! Input views of global memory: what a kernel reads.

use core::marker::PhantomData;

use crate::fault;
use crate::group::block::Block;
use crate::marker::{Brand, Uniform};
use crate::tile::{HaloTile, Tile};
use crate::view::numbers::{TileNumbers, pieces};
use crate::view::tile_ref::{Extent, TileRef};

/// Global memory as tiles of `LEN` elements, read-only for the whole launch.
///
/// The last tile may be partial: what lies past the end reads as zero. The host passes
/// `&Buffer<T>`.
pub type Tiles<'k, T, const LEN: usize> = TileView<'k, [T; LEN]>;

/// Global memory as tiles of `LEN` elements with `HALO` neighbours on either side, read-only for
/// the whole launch.
///
/// Neighbours before the start and past the end read as zero. The host passes `&Buffer<T>`.
pub type Halos<'k, T, const LEN: usize, const HALO: usize> = TileView<'k, HaloTile<T, LEN, HALO>>;

/// Global memory seen as a row of tiles of shape `S`, read-only for the whole launch; see [`Tiles`]
/// and [`Halos`].
///
/// # Invariants
///
/// 0. `base` points to `len` elements that are valid for reads and that nobody writes for the whole
///    launch `'k`.
/// 1. `base` is aligned to 16 bytes.
#[derive(Clone, Copy)]
pub struct TileView<'k, S: Tile> {
    base: *const S::Element,
    len: usize,
    brand: Brand<'k>,
    shape: PhantomData<S>,
}

// SAFETY: the memory behind the pointer is read-only while the launch lasts, and there is no
// collective operation on a view that needs no `&Block`, which a closure can't have.
unsafe impl<S: Tile> Uniform for TileView<'_, S> {}

impl<'k, S: Tile> TileView<'k, S> {
    /// Makes the view of `len` elements at `base`.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold.
    pub(crate) unsafe fn new(base: *const S::Element, len: usize) -> Self {
        const { assert!(S::STRIDE > 0 && S::LEN > 0) };
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
        pieces(self.len, S::STRIDE)
    }

    /// How many tiles end within the view, all of them before the partial ones.
    #[inline(always)]
    fn tiles_within(&self) -> usize {
        // This is how far a tile reaches beyond the start of the next one.
        let beyond = const { S::COLUMNS - S::LEAD - S::STRIDE };
        if self.len < beyond { 0 } else { (self.len - beyond) / S::STRIDE }
    }

    /// Returns tile `index` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.tiles()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn tile(&self, index: usize) -> TileRef<'k, S> {
        const { assert!(S::STRIDE > 0) };
        if index >= self.tiles() {
            fault::out_of_range("tile index {} is out of range: the view has {} tiles", index, self.tiles());
        }
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(index) }
    }

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index on
    /// (a grid-stride loop).
    #[inline(always)]
    pub fn for_block<const THREADS: usize>(&self, block: &Block<'_, THREADS>) -> BlockTiles<'k, S> {
        const { assert!(S::STRIDE > 0) };
        let _ = block;
        let numbers = TileNumbers::of_block(self.tiles());
        BlockTiles { view: *self, numbers, count: numbers.count(), whole: false }
    }

    /// Returns tile `index` of the view.
    ///
    /// # Safety
    ///
    /// `index < self.tiles()`.
    #[inline(always)]
    unsafe fn tile_unchecked(&self, index: usize) -> TileRef<'k, S> {
        // No overflow: `index * STRIDE < len`, and `len` elements lie in the address space
        // (invariant 0).
        let start = index * S::STRIDE;
        let element = size_of::<S::Element>();
        let before = if start < S::LEAD { (S::LEAD - start) * element } else { 0 };
        let rest = self.len - start;
        let end = if rest < S::COLUMNS - S::LEAD { (rest + S::LEAD) * element } else { S::COLUMNS * element };
        // SAFETY: (0) `before` bytes lie before the view and `end - before` in it, from the tile's
        // first byte on; only these are valid, and nobody writes them (invariant 0). (1) The base
        // is aligned to 16, the tile's start lies a multiple of ALIGNMENT from it, and so does the
        // view's start from the tile's (`Tile::ALIGNMENT`). (2) By the comparisons.
        unsafe {
            TileRef::new(Extent {
                first: self.base.wrapping_add(start).wrapping_sub(S::LEAD).cast(),
                before,
                end,
                pitch: 0,
                above: 0,
                below: 1,
            })
        }
    }
}

/// The tiles of one block, in the order in which it works through them.
///
/// # Invariants
///
/// 0. The numbers of `numbers` are those of tiles of the view.
/// 1. `count` is how many they are. Drivers count for themselves where they need to: a division
///    whose result nobody uses is left out.
/// 2. If `whole`, each of these tiles lies within the view as a whole, its halo included.
#[derive(Clone, Copy)]
pub struct BlockTiles<'k, S: Tile> {
    view: TileView<'k, S>,
    numbers: TileNumbers,
    count: usize,
    whole: bool,
}

impl<'k, S: Tile> BlockTiles<'k, S> {
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
    pub fn get(&self, index: usize) -> TileRef<'k, S> {
        if index >= self.len() {
            fault::out_of_range("tile index {} is out of range: this block has {} tiles", index, self.len());
        }
        // SAFETY: just checked.
        unsafe { self.get_unchecked(index) }
    }

    /// Returns the block's tile `index`.
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(&self, index: usize) -> TileRef<'k, S> {
        // SAFETY: a tile of the view (0).
        let tile = unsafe { self.view.tile_unchecked(self.numbers.number(index)) };
        if self.whole {
            // SAFETY: it lies within the view as a whole (2).
            unsafe { tile.whole() }
        } else {
            tile
        }
    }

    /// A bound on tile numbers: all of the block's tiles with lower numbers lie within the view as
    /// a whole, their halos included.
    #[inline(always)]
    pub(crate) fn whole_below(&self) -> usize {
        if self.whole {
            self.numbers.end()
        } else if self.numbers.number(0) * S::STRIDE < S::LEAD {
            0
        } else {
            self.view.tiles_within()
        }
    }

    /// The same tiles, counted here.
    #[inline(always)]
    pub(crate) fn counted(self) -> Self {
        BlockTiles { count: self.numbers.count(), ..self }
    }

    /// The same tiles, known to be whole, and known to be as many as those of another view.
    ///
    /// # Safety
    ///
    /// `self.len() == count`, and the share lies below `self.whole_below()`.
    #[inline(always)]
    pub(crate) unsafe fn known_whole(self, count: usize) -> Self {
        BlockTiles { count, whole: true, ..self }
    }
}
