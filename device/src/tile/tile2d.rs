//! Tiles with rows.

use core::ops::Index;

use crate::element::Element;
use crate::fault;
use crate::tile::{HaloTile, Tile, alignment_of_multiples, checked_stride};

/// A tile of `ROWS` rows of `COLUMNS` elements: `tile[row]` is a row, `tile[(row, column)]` an
/// element.
///
/// In shared memory each row is followed by `PAD` elements that nobody reads: with one word of
/// padding the elements of a column lie in different banks. Padding affects the alignment: 16-byte
/// copies need rows of a multiple of 16 bytes, padding included.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Tile2D<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> {
    rows: [PaddedRow<T, COLUMNS, PAD>; ROWS],
}

#[repr(C)]
#[derive(Clone, Copy)]
struct PaddedRow<T, const COLUMNS: usize, const PAD: usize> {
    own: [T; COLUMNS],
    pad: [T; PAD],
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Index<usize>
    for Tile2D<T, ROWS, COLUMNS, PAD>
{
    type Output = [T; COLUMNS];

    /// Returns row `row`.
    ///
    /// # Panics
    ///
    /// If `row >= ROWS`.
    #[inline(always)]
    #[track_caller]
    fn index(&self, row: usize) -> &[T; COLUMNS] {
        if row >= ROWS {
            fault::out_of_range("row {} is out of range: the tile has {}", row, ROWS);
        }
        &self.rows[row].own
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Index<(usize, usize)>
    for Tile2D<T, ROWS, COLUMNS, PAD>
{
    type Output = T;

    /// Returns the element at `(row, column)`.
    ///
    /// # Panics
    ///
    /// If `row >= ROWS` or `column >= COLUMNS`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        if column >= COLUMNS {
            fault::out_of_range("column {} is out of range: the tile has {}", column, COLUMNS);
        }
        &self[row][column]
    }
}

// SAFETY: (0) arrays of arrays of one plain element type in `repr(C)` order: a row is COLUMNS
// elements and PAD more, which are plain data like the others; (1) COLUMNS and ROWS are at least 1
// by the assertions, and there is no lead.
unsafe impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Tile
    for Tile2D<T, ROWS, COLUMNS, PAD>
{
    type Element = T;
    const ROWS: usize = ROWS;
    const COLUMNS: usize = COLUMNS;
    const PITCH: usize = COLUMNS + PAD;
    const STRIDE: usize = checked_stride::<T>(COLUMNS);
    const LEAD: usize = 0;
    const ROW_STRIDE: usize = checked_stride::<T>(ROWS);
}

/// A tile of `ROWS` rows of `COLUMNS` elements that lies in shared memory column by column:
/// `tile[(row, column)]` is an element, as of a [`Tile2D`].
///
/// Rows of a view become columns on their way to shared memory, so that elements below one another
/// are side by side there: what [`add_product`](crate::TileMut::add_product) wants of its left
/// factor. Each column is followed by `PAD` elements that nobody reads. With `PAD` a multiple of 4
/// `f32`, but none of 32, and `ROWS` a multiple of 32, copies have few bank conflicts and columns
/// are read by 16 bytes.
///
/// Every element is copied on its own. The engine is [`CpAsync`](crate::CpAsync) for elements of 4,
/// 8 or 16 bytes (`cp.async.ca` with 4), [`LoadStore`](crate::LoadStore) for others.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ColumnTile2D<T, const ROWS: usize, const COLUMNS: usize, const PAD: usize = 0> {
    columns: [PaddedRow<T, ROWS, PAD>; COLUMNS],
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> ColumnTile2D<T, ROWS, COLUMNS, PAD> {
    /// Returns column `column`.
    ///
    /// # Panics
    ///
    /// If `column >= COLUMNS`.
    #[inline(always)]
    #[track_caller]
    pub fn column(&self, column: usize) -> &[T; ROWS] {
        if column >= COLUMNS {
            fault::out_of_range("column {} is out of range: the tile has {}", column, COLUMNS);
        }
        &self.columns[column].own
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Index<(usize, usize)>
    for ColumnTile2D<T, ROWS, COLUMNS, PAD>
{
    type Output = T;

    /// Returns the element at `(row, column)`.
    ///
    /// # Panics
    ///
    /// If `row >= ROWS` or `column >= COLUMNS`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        if row >= ROWS {
            fault::out_of_range("row {} is out of range: the tile has {}", row, ROWS);
        }
        &self.column(column)[row]
    }
}

// SAFETY: (0) as for `Tile2D`, with rows and columns exchanged: element `(row, column)` is the one
// numbered `row` of the column, whose start lies `column * (ROWS + PAD)` elements from the first
// one's; (1) COLUMNS and ROWS are at least 1 by the assertions, and there is no lead.
unsafe impl<T: Element, const ROWS: usize, const COLUMNS: usize, const PAD: usize> Tile
    for ColumnTile2D<T, ROWS, COLUMNS, PAD>
{
    type Element = T;
    const ROWS: usize = ROWS;
    const COLUMNS: usize = COLUMNS;
    const PITCH: usize = 1;
    const COLUMN_PITCH: usize = ROWS + PAD;
    const STRIDE: usize = checked_stride::<T>(COLUMNS);
    const LEAD: usize = 0;
    const ROW_STRIDE: usize = checked_stride::<T>(ROWS);
    // An element is copied on its own.
    const ALIGNMENT: usize = alignment_of_multiples(size_of::<T>(), 0);
}

/// A tile of `ROWS` rows of `COLUMNS` elements with `HALO` neighbours on every side.
///
/// `tile[(row, column)]` counts from the tile's own first element; [`neighbour`](Self::neighbour)
/// reaches around it. Beyond the edges of the view there are zeros.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HaloTile2D<T, const ROWS: usize, const COLUMNS: usize, const HALO: usize> {
    above: [HaloTile<T, COLUMNS, HALO>; HALO],
    own: [HaloTile<T, COLUMNS, HALO>; ROWS],
    below: [HaloTile<T, COLUMNS, HALO>; HALO],
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const HALO: usize> HaloTile2D<T, ROWS, COLUMNS, HALO> {
    /// Returns the element `down` rows below and `right` columns to the right of the tile's own
    /// element at `(row, column)`; negative is above and to the left.
    ///
    /// # Panics
    ///
    /// If `row >= ROWS` or `column >= COLUMNS`, or if `down` or `right` is beyond `HALO` in either
    /// direction.
    #[inline(always)]
    #[track_caller]
    pub fn neighbour(&self, row: usize, column: usize, down: isize, right: isize) -> T {
        assert!(row < ROWS && column < COLUMNS, "a neighbour is counted from an element of the tile's own part");
        assert!(
            down.unsigned_abs() <= HALO && right.unsigned_abs() <= HALO,
            "a neighbour lies at most `HALO` rows and columns away"
        );
        let row = row.wrapping_add(HALO).wrapping_add_signed(down);
        let column = column.wrapping_add(HALO).wrapping_add_signed(right);
        // SAFETY: by the assertions `row <= ROWS - 1 + 2 * HALO`, and it is not negative.
        let row = unsafe { self.all().get_unchecked(row) };
        // SAFETY: likewise `column <= COLUMNS - 1 + 2 * HALO`, and it is not negative.
        unsafe { *row.as_slice().get_unchecked(column) }
    }

    /// All `ROWS + 2 * HALO` rows.
    #[inline(always)]
    fn all(&self) -> &[HaloTile<T, COLUMNS, HALO>] {
        const { assert!(size_of::<Self>() == (ROWS + 2 * HALO) * size_of::<HaloTile<T, COLUMNS, HALO>>()) };
        let first = core::ptr::from_ref(self).cast();
        // SAFETY: the three arrays of rows follow one another without padding (`repr(C)`, one type;
        // asserted above), and the borrow of `self` covers all of them.
        unsafe { core::slice::from_raw_parts(first, ROWS + 2 * HALO) }
    }
}

impl<T: Element, const ROWS: usize, const COLUMNS: usize, const HALO: usize> Index<(usize, usize)>
    for HaloTile2D<T, ROWS, COLUMNS, HALO>
{
    type Output = T;

    /// Returns the tile's own element at `(row, column)`.
    ///
    /// # Panics
    ///
    /// If `row >= ROWS` or `column >= COLUMNS`.
    #[inline(always)]
    #[track_caller]
    fn index(&self, (row, column): (usize, usize)) -> &T {
        assert!(row < ROWS && column < COLUMNS, "the tile's own part ends before this element");
        &self.own[row].as_slice()[HALO + column]
    }
}

// SAFETY: (0) rows of HaloTile, which are COLUMNS + 2 * HALO plain elements without padding, one
// after the other; (1) ROWS and COLUMNS are at least 1 by the assertions, and the own part with one
// halo before it is no longer than with two.
unsafe impl<T: Element, const ROWS: usize, const COLUMNS: usize, const HALO: usize> Tile
    for HaloTile2D<T, ROWS, COLUMNS, HALO>
{
    type Element = T;
    const ROWS: usize = ROWS + 2 * HALO;
    const COLUMNS: usize = COLUMNS + 2 * HALO;
    const STRIDE: usize = checked_stride::<T>(COLUMNS);
    const LEAD: usize = HALO;
    const ROW_STRIDE: usize = checked_stride::<T>(ROWS);
    const ROW_LEAD: usize = HALO;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_is_counted_from_the_tiles_own_element() {
        let rows: [[i32; 4]; 4] = core::array::from_fn(|row| core::array::from_fn(|column| (10 * row + column) as i32));
        // SAFETY: 4 rows of 4 elements are what the tile is made of.
        let tile: HaloTile2D<i32, 2, 2, 1> = unsafe { core::mem::transmute(rows) };
        assert_eq!(tile[(0, 0)], 11);
        assert_eq!(tile[(1, 1)], 22);
        assert_eq!(tile.neighbour(0, 0, -1, -1), 0);
        assert_eq!(tile.neighbour(1, 1, 1, 1), 33);
        assert_eq!(tile.neighbour(1, 0, 0, 1), 22);
    }

    #[test]
    #[should_panic(expected = "at most `HALO` rows and columns away")]
    fn a_neighbour_beyond_the_halo_is_refused() {
        let tile: HaloTile2D<i32, 2, 2, 1> = zeroed();
        let _ = tile.neighbour(0, 0, 0, -2);
    }

    #[test]
    #[should_panic(expected = "row 2 is out of range: the tile has 2")]
    fn a_row_beyond_the_tile_is_refused() {
        let tile: Tile2D<i32, 2, 2, 1> = zeroed();
        let _ = tile[2][0];
    }

    #[test]
    fn padding_is_part_of_the_pitch_and_not_of_the_row() {
        assert_eq!(Tile2D::<f32, 32, 32, 1>::PITCH, 33);
        assert_eq!(Tile2D::<f32, 32, 32, 1>::BYTES, 32 * 33 * 4);
        assert_eq!(Tile2D::<f32, 32, 32, 1>::LEN, 1024);
    }

    #[test]
    fn a_tile_by_columns_has_its_elements_where_the_trait_says() {
        type Of = ColumnTile2D<i32, 3, 2, 1>;
        // SAFETY: 2 columns of 3 elements and 1 more are what the tile is made of.
        let tile: Of = unsafe { core::mem::transmute([0, 10, 20, -1, 1, 11, 21, -1]) };
        let first = core::ptr::from_ref(&tile).cast::<i32>();
        for (row, column) in (0..3).flat_map(|row| [(row, 0), (row, 1)]) {
            let expected = (10 * row + column) as i32;
            assert_eq!(tile[(row, column)], expected);
            let place = first.wrapping_add(crate::tile::place::<Of>(row, column));
            // SAFETY: an element of the tile.
            assert_eq!(unsafe { place.read() }, expected);
        }
        assert_eq!(tile.column(1), &[1, 11, 21]);
    }

    #[test]
    #[should_panic(expected = "row 3 is out of range: the tile has 3")]
    fn a_row_beyond_a_tile_by_columns_is_refused() {
        let tile: ColumnTile2D<i32, 3, 2> = zeroed();
        let _ = tile[(3, 0)];
    }

    fn zeroed<T: Tile>() -> T {
        // SAFETY: a tile is elements of plain data, for which zeros are valid (`Tile`, 0).
        unsafe { core::mem::zeroed() }
    }
}
