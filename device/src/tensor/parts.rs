//! Rows, columns and parts of boxes in shared memory.

use core::ops::Index;

use super::extents::{Extents, Extents2};
use super::swizzle::Swizzle;
use super::tile::TensorTile;
use crate::element::Element;
use crate::fault;

/// A row of a [`TensorTile`]: `row[column]` is an element.
pub struct TensorRow<'t, T: Element, X: Extents, W: Swizzle> {
    tile: &'t TensorTile<T, X, W>,
    row: usize,
}

/// A column of a [`TensorTile`]: `column[row]` is an element.
pub struct TensorColumn<'t, T: Element, X: Extents, W: Swizzle> {
    tile: &'t TensorTile<T, X, W>,
    column: usize,
}

impl<T: Element, X: Extents, W: Swizzle> Clone for TensorRow<'_, T, X, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Element, X: Extents, W: Swizzle> Copy for TensorRow<'_, T, X, W> {}

impl<T: Element, X: Extents, W: Swizzle> Clone for TensorColumn<'_, T, X, W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Element, X: Extents, W: Swizzle> Copy for TensorColumn<'_, T, X, W> {}

impl<T: Element, X: Extents, W: Swizzle> TensorTile<T, X, W> {
    /// Returns a row of the tile.
    ///
    /// # Panics
    ///
    /// If the tile has no such row: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn row(&self, row: usize) -> TensorRow<'_, T, X, W> {
        Self::check_row(row);
        TensorRow { tile: self, row }
    }

    /// Returns a column of the tile.
    ///
    /// # Panics
    ///
    /// If the tile has no such column: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn column(&self, column: usize) -> TensorColumn<'_, T, X, W> {
        Self::check_column(column);
        TensorColumn { tile: self, column }
    }
}

/// Rows after which every swizzle begins anew.
const PERIOD: usize = 8;

impl<T: Element, const ROWS: usize, const COLUMNS: usize, W: Swizzle> TensorTile<T, Extents2<ROWS, COLUMNS>, W> {
    /// Returns the `PART` rows from row `first` on, a tile of their own. A swizzled tile is cut
    /// only where its swizzle begins anew: `PART` is a multiple of 8, or it does not compile, and
    /// so is `first`.
    ///
    /// PTX: nothing but the address.
    ///
    /// # Panics
    ///
    /// If the tile has no such rows, or the swizzle doesn't begin anew at row `first`: the launch
    /// fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn part<const PART: usize>(&self, first: usize) -> &TensorTile<T, Extents2<PART, COLUMNS>, W> {
        const {
            assert!(
                W::SPAN.is_none() || PART.is_multiple_of(PERIOD),
                "a part of a swizzled tile has whole periods of its swizzle, 8 rows each: ask for a multiple of 8 rows"
            );
            assert!(TensorTile::<T, Extents2<PART, COLUMNS>, W>::BYTES > 0);
        };
        if W::SPAN.is_some() && !first.is_multiple_of(PERIOD) {
            fault::out_of_range(
                "row {} begins no part of a swizzled tile: parts begin at multiples of {}",
                first,
                PERIOD,
            );
        }
        if PART > ROWS || first > ROWS - PART {
            fault::out_of_range("a part that begins at row {} is out of range: the tile has {} rows", first, ROWS);
        }
        // A row's bytes: those of the columns, without a gap (`BYTES`).
        let offset = first * COLUMNS * size_of::<T>();
        // SAFETY: `first` is a row of the tile (just checked; a part has a row at least), whose
        // rows lie one after the other.
        let part = unsafe { core::ptr::from_ref(self).byte_add(offset) };
        // SAFETY: so many rows of the tile follow (just checked), which `self` borrows: plain data,
        // as large as the part's type, which has their bytes (`BYTES`) and an alignment of 16, and
        // a row has a multiple of 16 bytes. Row `r` of the part is row `first + r` of the tile, and
        // its pieces lie where the part's type looks for them: what a swizzle does to a row depends
        // on the row's number modulo `PERIOD` (`Swizzle`), and `first` is a multiple of that.
        unsafe { &*part.cast() }
    }
}

impl<T: Element, X: Extents, W: Swizzle> TensorRow<'_, T, X, W> {
    /// Returns the number of elements.
    #[expect(clippy::len_without_is_empty, reason = "a row has at least one element")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        TensorTile::<T, X, W>::COLUMNS
    }

    /// Returns the `N` elements from `column` on, which are 16 bytes: the tile's
    /// [`vector`](TensorTile::vector).
    ///
    /// # Panics
    ///
    /// As that.
    #[inline(always)]
    #[track_caller]
    pub fn vector<const N: usize>(&self, column: usize) -> [T; N] {
        self.tile.vector(self.row, column)
    }
}

impl<T: Element, X: Extents, W: Swizzle> TensorColumn<'_, T, X, W> {
    /// Returns the number of elements.
    #[expect(clippy::len_without_is_empty, reason = "a column has at least one element")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        TensorTile::<T, X, W>::ROWS
    }
}

impl<T: Element, X: Extents, W: Swizzle> Index<usize> for TensorRow<'_, T, X, W> {
    type Output = T;

    /// The element in this column.
    ///
    /// # Panics
    ///
    /// If the row has no such element.
    #[inline(always)]
    #[track_caller]
    fn index(&self, column: usize) -> &T {
        &self.tile[(self.row, column)]
    }
}

impl<T: Element, X: Extents, W: Swizzle> Index<usize> for TensorColumn<'_, T, X, W> {
    type Output = T;

    /// The element in this row.
    ///
    /// # Panics
    ///
    /// If the column has no such element.
    #[inline(always)]
    #[track_caller]
    fn index(&self, row: usize) -> &T {
        &self.tile[(row, self.column)]
    }
}
