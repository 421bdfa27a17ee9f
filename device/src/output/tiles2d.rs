//! Output views with rows.

use core::marker::PhantomData;

use crate::element::Element;
use crate::fault;
use crate::group::block::{Block, Thread};
use crate::isa;
use crate::marker::{BlockLevel, Brand, Uniform};
use crate::tile::Tile;
use crate::tile::tile2d::Tile2D;
use crate::view::tiles2d::Places;

/// Global memory with rows as tiles of `ROWS` by `COLUMNS` elements that this launch alone writes.
///
/// Tiles are numbered row by row, and block `b` writes the tiles `i * grid + b`, so no two blocks
/// share one. Tiles at the right and lower edge may be partial: what a thread writes past an edge
/// is dropped. The host passes `&mut Buffer2D<T>`.
///
/// # Invariants
///
/// 0. Row `r < height` is `width` elements from `base + r * pitch` on, valid for writes, which only
///    this launch touches; `width <= pitch`, so that rows don't overlap. Neither is 0.
/// 1. There is one such view of this memory in each block.
/// 2. `ROWS * COLUMNS` is 1 to `u32::MAX`.
pub struct TilesMut2D<'k, T, const ROWS: usize, const COLUMNS: usize> {
    base: *mut T,
    width: usize,
    height: usize,
    pitch: usize,
    brand: Brand<'k>,
    level: BlockLevel,
}

impl<T, const ROWS: usize, const COLUMNS: usize> !Uniform for TilesMut2D<'_, T, ROWS, COLUMNS> {}
impl<T, const ROWS: usize, const COLUMNS: usize, const THREADS: usize> !Uniform
    for BlockTilesMut2D<'_, '_, T, ROWS, COLUMNS, THREADS>
{
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize> TilesMut2D<'_, T, ROWS, COLUMNS> {
    /// Makes the view of `height` rows of `width` elements.
    ///
    /// # Safety
    ///
    /// The invariants 0 and 1 hold, and `base` is aligned for `T`; 2 is asserted here.
    pub(crate) unsafe fn new(base: *mut T, width: usize, height: usize, pitch: usize) -> Self {
        const { assert!(Tile2D::<T, ROWS, COLUMNS>::STRIDE > 0 && Tile2D::<T, ROWS, COLUMNS>::ROW_STRIDE > 0) };
        const { assert!(Tile2D::<T, ROWS, COLUMNS>::LEN > 0) };
        TilesMut2D { base, width, height, pitch, brand: PhantomData, level: PhantomData }
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

    /// Returns the tiles of this block in order: every `grid`-th tile from the block's own index
    /// on.
    ///
    /// # Panics
    ///
    /// If the view has 2^32 tiles or more.
    #[inline(always)]
    #[track_caller]
    pub fn for_block<'b, const THREADS: usize>(
        &mut self,
        block: &Block<'b, THREADS>,
    ) -> BlockTilesMut2D<'_, 'b, T, ROWS, COLUMNS, THREADS> {
        let _ = block;
        self.for_group()
    }

    /// The tiles of this block, for a group of `THREADS` with the brand `'b`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn for_group<'b, const THREADS: usize>(&mut self) -> BlockTilesMut2D<'_, 'b, T, ROWS, COLUMNS, THREADS> {
        BlockTilesMut2D {
            base: self.base,
            width: self.width,
            height: self.height,
            pitch: self.pitch,
            places: Places::new(self.width.div_ceil(COLUMNS), self.height.div_ceil(ROWS)),
            block: PhantomData,
            view: PhantomData,
            level: PhantomData,
        }
    }
}

/// The output tiles of one block, in the order in which it works through them.
pub struct BlockTilesMut2D<'v, 'b, T, const ROWS: usize, const COLUMNS: usize, const THREADS: usize> {
    base: *mut T,
    width: usize,
    height: usize,
    pitch: usize,
    places: Places,
    block: Brand<'b>,
    view: PhantomData<&'v mut T>,
    level: BlockLevel,
}

impl<'b, T: Element, const ROWS: usize, const COLUMNS: usize, const THREADS: usize>
    BlockTilesMut2D<'_, 'b, T, ROWS, COLUMNS, THREADS>
{
    /// Returns how many tiles the block has; 0 where blocks outnumber tiles.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the places of these tiles among the view's: for an input that is read elsewhere,
    /// such as a matrix to be transposed.
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
    pub fn get_mut(&mut self, index: usize) -> TileMut2D<'_, 'b, T, ROWS, COLUMNS, THREADS> {
        let (row, column) = self.places.get(index);
        // No overflow: the first row and column of a tile of the view.
        let (top, left) = (row * ROWS, column * COLUMNS);
        TileMut2D {
            first: self.base.wrapping_add(top * self.pitch).wrapping_add(left),
            pitch: self.pitch,
            rows: if self.height - top < ROWS { self.height - top } else { ROWS },
            columns: if self.width - left < COLUMNS { self.width - left } else { COLUMNS },
            block: PhantomData,
            view: PhantomData,
        }
    }
}

/// One tile of a [`TilesMut2D`]: counted row by row, thread `r` of the block owns its elements `r`,
/// `r + THREADS`, ..
///
/// # Invariants
///
/// 0. The first `columns <= COLUMNS` elements of `rows <= ROWS` rows from `first` on, `pitch`
///    elements apart, are valid for writes, and this value is the only way to write them.
/// 1. `ROWS * COLUMNS` is 1 to `u32::MAX`, as for the view.
pub struct TileMut2D<'v, 'b, T, const ROWS: usize, const COLUMNS: usize, const THREADS: usize> {
    first: *mut T,
    pitch: usize,
    rows: usize,
    columns: usize,
    block: Brand<'b>,
    view: PhantomData<&'v mut T>,
}

// SAFETY: as for `TileMut`.
unsafe impl<T: Element, const ROWS: usize, const COLUMNS: usize, const THREADS: usize> Uniform
    for TileMut2D<'_, '_, T, ROWS, COLUMNS, THREADS>
{
}

impl<'b, T: Element, const ROWS: usize, const COLUMNS: usize, const THREADS: usize>
    TileMut2D<'_, 'b, T, ROWS, COLUMNS, THREADS>
{
    /// How many elements of a whole tile a thread owns.
    pub const PER_THREAD: usize = (ROWS * COLUMNS).div_ceil(THREADS);

    /// Returns how many of the tile's rows lie in the view.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns how many of the tile's columns lie in the view.
    #[inline(always)]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the row and column in the tile of the calling thread's element number `nth`, which
    /// is element `rank + nth * THREADS` counted row by row. It may lie past the tile's last row.
    #[inline(always)]
    pub fn place(&self, thread: &Thread<'_, 'b, THREADS>, nth: usize) -> (usize, usize) {
        let element = thread.rank() + nth * THREADS;
        (element / COLUMNS, element % COLUMNS)
    }

    /// Writes the calling thread's element number `nth`. Past an edge of the view nothing is
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
        let (row, column) = self.place(thread, nth);
        if row < self.rows && column < self.columns {
            let address = self.first.wrapping_add(row * self.pitch + column);
            // SAFETY: the row and the column lie in the view, so the address is valid for writes
            // (invariant 0). Element `rank + nth * THREADS` belongs to this thread alone: the token
            // is the calling thread's in the group that this tile is branded with, its rank is
            // below THREADS (`Thread`, 0), and `nth` is below PER_THREAD (checked). The sum does
            // not wrap: it is below `ROWS * COLUMNS + 2 * THREADS`, and the product is at most
            // `u32::MAX` (1).
            unsafe { isa::store_global(address, value) };
        }
    }

    /// Writes all of the calling thread's elements: `value(row, column)` for each of its places in
    /// the tile that lies in the view.
    #[inline(always)]
    pub fn set_each(&self, thread: &Thread<'_, 'b, THREADS>, value: impl Fn(usize, usize) -> T) {
        for nth in 0..Self::PER_THREAD {
            let (row, column) = self.place(thread, nth);
            if row < self.rows && column < self.columns {
                self.set_nth(thread, nth, value(row, column));
            }
        }
    }
}
