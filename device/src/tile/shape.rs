//! What copies depend on, apart from the type of a tile.

use super::Tile;

/// What the copies of a tile depend on, in bytes.
pub struct Shape {
    pub(crate) bytes: usize,
    pub(crate) len: usize,
    rows: usize,
    row: usize,
    pitch: usize,
    alignment: usize,
    /// Whether it is a box of a tensor, swizzled or not.
    pub(crate) boxed: bool,
    /// Whether elements of a row lie apart from one another.
    pub(crate) by_columns: bool,
}

impl Shape {
    pub(crate) const fn of<T: Tile>() -> Shape {
        let element = size_of::<T::Element>();
        Shape {
            bytes: T::LEN * element,
            len: T::LEN,
            rows: T::ROWS,
            row: T::COLUMNS * element,
            pitch: T::PITCH * element,
            alignment: T::ALIGNMENT,
            boxed: false,
            by_columns: T::COLUMN_PITCH > 1,
        }
    }

    /// The shape of a box of `rows` rows of so many bytes each, of elements of `element` bytes.
    pub(crate) const fn of_box(rows: usize, row: usize, element: usize) -> Shape {
        Shape {
            bytes: rows * row,
            len: rows * row / element,
            rows,
            row,
            pitch: row,
            alignment: 16,
            boxed: true,
            by_columns: false,
        }
    }

    /// The widest unit of a copy in bytes: the largest power of two up to 16 that divides the
    /// tile's rows, each of its `parts` parts, the starts of these, and the tile's size.
    pub(crate) const fn unit(&self, parts: usize) -> usize {
        let (mut width, part) = (self.alignment, self.bytes / parts);
        while !(self.row.is_multiple_of(width) && part.is_multiple_of(width) && self.pitch.is_multiple_of(width)) {
            width /= 2;
        }
        width
    }

    /// Whether the tile can be copied in `parts` equal parts: as a whole, or in parts that can be
    /// [read](Self::has_parts) too.
    pub(crate) const fn divides_into(&self, parts: usize) -> bool {
        parts == 1 || self.has_parts(parts)
    }

    /// Whether the tile is `parts` equal parts of elements that follow one another in shared
    /// memory, counted row by row.
    pub(crate) const fn has_parts(&self, parts: usize) -> bool {
        let is_one_row = self.rows == 1 || self.pitch == self.row;
        !self.boxed && !self.by_columns && is_one_row && self.len.is_multiple_of(parts)
    }
}

/// The alignment in shared memory of something that asks for `alignment`. It is at least 16,
/// because a unit of a copy has up to 16 bytes.
pub(crate) const fn at_least_16(alignment: usize) -> usize {
    if alignment > 16 { alignment } else { 16 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::tile2d::{ColumnTile2D, Tile2D};

    #[test]
    fn a_tile_with_padding_or_by_columns_is_copied_whole_and_not_read_by_parts() {
        let rows = Shape::of::<Tile2D<u32, 4, 8>>();
        assert!([1, 2, 32].iter().all(|parts| rows.has_parts(*parts) && rows.divides_into(*parts)));
        for shape in [Shape::of::<Tile2D<u32, 4, 8, 1>>(), Shape::of::<ColumnTile2D<u32, 4, 8>>()] {
            assert!(shape.divides_into(1) && !shape.divides_into(2));
            assert!(!shape.has_parts(1) && !shape.has_parts(2));
        }
    }
}
