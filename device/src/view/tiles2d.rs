//! Input views with rows.

use core::marker::PhantomData;
use core::num::NonZeroU32;

use crate::fault;
use crate::group::block::Block;
use crate::marker::{Brand, Uniform};
use crate::tile::Tile;
use crate::tile::tile2d::{HaloTile2D, Tile2D};
use crate::view::numbers::TileNumbers;
use crate::view::tile_ref::{Extent, TileRef};

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements, read-only for the whole
/// launch.
///
/// Tiles at the right and lower edge may be partial: what lies past an edge reads as zero. In
/// shared memory each row of a tile is followed by `PAD` elements. The host passes `&Buffer2D<T>`.
pub type Tiles2D<'k, T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> =
    TileView2D<'k, Tile2D<T, ROWS, COLUMNS, PAD>>;

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements with `HALO` neighbours on every
/// side, read-only for the whole launch.
///
/// What lies past an edge reads as zero. The host passes `&Buffer2D<T>`.
pub type Halos2D<'k, T, const ROWS: usize, const COLUMNS: usize, const HALO: usize> =
    TileView2D<'k, HaloTile2D<T, ROWS, COLUMNS, HALO>>;

/// Global memory with rows seen as tiles of shape `S`, read-only for the whole launch; see
/// [`Tiles2D`] and [`Halos2D`].
///
/// Tiles are numbered row by row.
///
/// # Invariants
///
/// 0. Row `r < height` is `width` elements from `base + r * pitch` on, valid for reads, which
///    nobody writes for the whole launch `'k`; `width <= pitch`, and `height * pitch` elements lie
///    in the address space. Neither is 0.
/// 1. `base` is aligned to 16 bytes, and `pitch` elements are a multiple of `S::ALIGNMENT` bytes.
#[derive(Clone, Copy)]
pub struct TileView2D<'k, S: Tile> {
    base: *const S::Element,
    width: usize,
    height: usize,
    pitch: usize,
    brand: Brand<'k>,
    shape: PhantomData<S>,
}

// SAFETY: as for `TileView`.
unsafe impl<S: Tile> Uniform for TileView2D<'_, S> {}

impl<'k, S: Tile> TileView2D<'k, S> {
    /// Makes the view of `height` rows of `width` elements.
    ///
    /// # Safety
    ///
    /// The invariants hold.
    pub(crate) unsafe fn new(base: *const S::Element, width: usize, height: usize, pitch: usize) -> Self {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0 && S::LEN > 0) };
        TileView2D { base, width, height, pitch, brand: PhantomData, shape: PhantomData }
    }

    /// Returns the number of elements in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    #[inline(always)]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the number of tiles beside one another, the partial last one included.
    #[inline(always)]
    pub fn tile_columns(&self) -> usize {
        self.width.div_ceil(S::STRIDE)
    }

    /// Returns the number of tiles below one another, the partial last one included.
    #[inline(always)]
    pub fn tile_rows(&self) -> usize {
        self.height.div_ceil(S::ROW_STRIDE)
    }

    /// Returns the tile in row `row` and column `column` of the tiles.
    ///
    /// # Panics
    ///
    /// If `row >= self.tile_rows()` or `column >= self.tile_columns()`.
    #[inline(always)]
    #[track_caller]
    pub fn tile(&self, row: usize, column: usize) -> TileRef<'k, S> {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        if row >= self.tile_rows() {
            fault::out_of_range("tile row {} is out of range: the view has {}", row, self.tile_rows());
        }
        if column >= self.tile_columns() {
            fault::out_of_range("tile column {} is out of range: the view has {}", column, self.tile_columns());
        }
        // SAFETY: just checked.
        unsafe { self.tile_unchecked(row, column) }
    }

    /// Returns the tile in row `row` and column `column` of the tiles.
    ///
    /// # Safety
    ///
    /// `row < self.tile_rows()` and `column < self.tile_columns()`.
    #[inline(always)]
    unsafe fn tile_unchecked(&self, row: usize, column: usize) -> TileRef<'k, S> {
        // No overflow: both are the first row and column of a tile, so within the view.
        let (top, left) = (row * S::ROW_STRIDE, column * S::STRIDE);
        let element = size_of::<S::Element>();
        let pitch = self.pitch * element;
        let (before, end) = clip(left, self.width, S::LEAD, S::COLUMNS);
        let (above, below) = clip(top, self.height, S::ROW_LEAD, S::ROWS);
        let first = self.base.wrapping_add(left).wrapping_sub(S::LEAD).cast::<u8>();
        let first = first.wrapping_add(top * pitch).wrapping_sub(S::ROW_LEAD * pitch);
        // SAFETY: (0) and (2) `clip`, in rows and in elements; (1) the base, the pitch and the
        // start of each tile in a row are multiples of ALIGNMENT (invariant 1 and
        // `Tile::ALIGNMENT`), and so is the lead.
        unsafe { TileRef::new(Extent { first, before: before * element, end: end * element, pitch, above, below }) }
    }

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index
    /// on.
    ///
    /// # Panics
    ///
    /// If the view has 2^32 tiles or more.
    #[inline(always)]
    #[track_caller]
    pub fn for_block<const THREADS: usize>(&self, block: &Block<'_, THREADS>) -> BlockTiles2D<'k, S> {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        let _ = block;
        BlockTiles2D { view: *self, places: Places::new(self.tile_columns(), self.tile_rows()) }
    }
}

/// The overlap of a view of `len` and a tile of `extent` that begins `lead` before `start`: from
/// where to where in the tile.
#[inline(always)]
fn clip(start: usize, len: usize, lead: usize, extent: usize) -> (usize, usize) {
    let before = lead.saturating_sub(start);
    let rest = len - start;
    (before, if rest < extent - lead { rest + lead } else { extent })
}

/// The places of a block's tiles among those of a two-dimensional view, in the order in which the
/// block works through them.
///
/// # Invariants
///
/// 0. The numbers of `numbers`, `count` in all, are below the number of tiles, which is below 2^32.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    columns: NonZeroU32,
    numbers: TileNumbers,
    count: usize,
}

impl Places {
    #[inline(always)]
    #[track_caller]
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let tiles = columns.saturating_mul(rows);
        let limit = u32::MAX as usize;
        if tiles > limit {
            fault::out_of_range("a view of {} tiles is too large: at most {} can be", tiles, limit);
        }
        let numbers = TileNumbers::of_block(tiles);
        Places {
            // A view is not empty, so it has a column of tiles.
            columns: NonZeroU32::new(columns as u32).unwrap_or(NonZeroU32::MIN),
            numbers,
            count: numbers.count(),
        }
    }

    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Which of the view's tiles they are, counted row by row.
    #[inline(always)]
    pub(crate) fn numbers(&self) -> TileNumbers {
        self.numbers
    }

    /// Returns the row and the column of the block's tile `index` among the view's tiles.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> (usize, usize) {
        if index >= self.len() {
            fault::out_of_range("tile index {} is out of range: this block has {} tiles", index, self.len());
        }
        self.get_unchecked(index)
    }

    /// As [`get`](Self::get) for an index below `self.len()`; for others the place of no tile.
    #[inline(always)]
    fn get_unchecked(&self, index: usize) -> (usize, usize) {
        // No overflow: below the number of tiles (0).
        let number = self.numbers.number(index) as u32;
        ((number / self.columns) as usize, (number % self.columns) as usize)
    }
}

/// The tiles of one block, in the order in which it works through them.
#[derive(Clone, Copy)]
pub struct BlockTiles2D<'k, S: Tile> {
    view: TileView2D<'k, S>,
    places: Places,
}

impl<'k, S: Tile> BlockTiles2D<'k, S> {
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the places of these tiles among the view's.
    #[inline(always)]
    pub fn places(&self) -> Places {
        self.places
    }

    /// Returns the block's tile `index`, which is tile `index * grid + block` of the view.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn get(&self, index: usize) -> TileRef<'k, S> {
        let (row, column) = self.places.get(index);
        // SAFETY: the row and the column of a tile of the view (`Places`, 0).
        unsafe { self.view.tile_unchecked(row, column) }
    }

    /// Returns the block's tile `index`.
    ///
    /// # Safety
    ///
    /// `index < self.len()`.
    #[inline(always)]
    pub(crate) unsafe fn get_unchecked(&self, index: usize) -> TileRef<'k, S> {
        let (row, column) = self.places.get_unchecked(index);
        // SAFETY: as in `get`, with the caller's promise.
        unsafe { self.view.tile_unchecked(row, column) }
    }
}
