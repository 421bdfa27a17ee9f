//! The shapes of tiles: what is copied, waited for and read as one.

pub(crate) mod shape;
pub(crate) mod tile2d;

use crate::element::Element;
use crate::marker::{RoleShared, Uniform};

/// A tile: elements that are copied, waited for and read as one.
///
/// `[T; LEN]` is the plain tile; [`HaloTile`] has neighbours on both sides;
/// [`Tile2D`](crate::Tile2D) and [`HaloTile2D`](crate::HaloTile2D) have rows, and
/// [`ColumnTile2D`](crate::ColumnTile2D) lies column by column. Successive tiles of a view start
/// `STRIDE` elements apart, and tile 0 starts `LEAD` elements before the view. The same holds for
/// rows with `ROW_STRIDE` and `ROW_LEAD`.
///
/// # Safety
///
/// 0. `Self` is elements of type `Element` in `ROWS` rows and `COLUMNS` columns, any bit pattern
///    valid: element `(row, column)` lies `row * PITCH + column * COLUMN_PITCH` elements from the
///    start, and no other one does. Between them there is nothing but elements that nobody reads.
/// 1. `STRIDE >= 1`, `LEAD + STRIDE <= COLUMNS`, `ROW_STRIDE >= 1`, and
///    `ROW_LEAD + ROW_STRIDE <= ROWS`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tile",
    note = "a tile is an array `[T; LEN]` of elements, a `HaloTile<T, LEN, HALO>`, a `Tile2D<T, ROWS, COLUMNS>`, a \
            `ColumnTile2D<T, ROWS, COLUMNS>` or a `HaloTile2D<T, ROWS, COLUMNS, HALO>`"
)]
pub unsafe trait Tile: Sized + Copy + Uniform + RoleShared + Send + Sync + 'static {
    /// The element type.
    type Element: Element;
    /// Rows of the tile.
    const ROWS: usize = 1;
    /// Elements in a row.
    const COLUMNS: usize;
    /// Elements from one row's start to the next one's in shared memory.
    const PITCH: usize = Self::COLUMNS;
    /// Elements from one column to the next one in shared memory.
    const COLUMN_PITCH: usize = 1;
    /// Elements from one tile's start to the next one's in a row of the view.
    const STRIDE: usize;
    /// Elements of a row that lie before its own part.
    const LEAD: usize;
    /// Rows from one tile's start to the next one's.
    const ROW_STRIDE: usize = 1;
    /// Rows of the tile that lie above its own part.
    const ROW_LEAD: usize = 0;
    /// Elements in the tile: at most `u32::MAX`, or it does not compile.
    const LEN: usize = checked_len(Self::ROWS, Self::COLUMNS);
    /// The tile's size in shared memory in bytes.
    const BYTES: usize = size_of::<Self>();
    /// A power of two, up to 16, to which the start of every row of every tile of a view is aligned
    /// in bytes if the view's base is, and its rows too if it has several: the largest one, for a
    /// tile whose rows are copied in one piece.
    const ALIGNMENT: usize =
        alignment_of_multiples(Self::STRIDE * size_of::<Self::Element>(), Self::LEAD * size_of::<Self::Element>());
}

/// Where element `(row, column)` of a tile lies in shared memory, in elements from the start.
#[inline(always)]
pub(crate) fn place<T: Tile>(row: usize, column: usize) -> usize {
    row * T::PITCH + column * T::COLUMN_PITCH
}

/// The largest power of two, up to 16, that divides both `a` and `b` (0 is divided by all).
pub(crate) const fn alignment_of_multiples(a: usize, b: usize) -> usize {
    let mut power = 16;
    while !a.is_multiple_of(power) || !b.is_multiple_of(power) {
        power /= 2;
    }
    power
}

/// Checks what the copies rely on: elements have 1 to 16 bytes and an alignment of at most 16, and
/// a tile has at least one element.
pub(crate) const fn checked_stride<T>(len: usize) -> usize {
    assert!(len > 0, "a tile has at least one element");
    assert!(
        size_of::<T>() >= 1 && size_of::<T>() <= 16,
        "an element of a tile has 1 to 16 bytes: make a tile of its parts"
    );
    assert!(align_of::<T>() <= 16, "an element of a tile is aligned to at most 16 bytes");
    len
}

/// Refuses tiles in which the arithmetic of elements and ranks could overflow.
pub(crate) const fn checked_len(rows: usize, columns: usize) -> usize {
    match rows.checked_mul(columns) {
        Some(len) if len <= u32::MAX as usize => len,
        _ => panic!("a tile has at most 4294967295 elements, the largest `u32`"),
    }
}

// SAFETY: (0) an array has no padding between elements, and elements are plain data; (1) the array
// is not empty by the assertion, so STRIDE = LEN >= 1 and LEAD + STRIDE = LEN.
unsafe impl<T: Element, const LEN: usize> Tile for [T; LEN] {
    type Element = T;
    const COLUMNS: usize = LEN;
    const STRIDE: usize = checked_stride::<T>(LEN);
    const LEAD: usize = 0;
}

/// A tile of `LEN` elements with `HALO` neighbours on either side, `LEN + 2 * HALO` elements in
/// all.
///
/// Beyond the ends of the view the neighbours are zero. The halo's size in bytes affects the
/// alignment: 16-byte copies need a halo of a multiple of 16 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HaloTile<T, const LEN: usize, const HALO: usize> {
    before: [T; HALO],
    own: [T; LEN],
    after: [T; HALO],
}

impl<T: Element, const LEN: usize, const HALO: usize> HaloTile<T, LEN, HALO> {
    /// Returns all `LEN + 2 * HALO` elements; the tile's own part starts at index `HALO`.
    #[inline(always)]
    pub fn as_slice(&self) -> &[T] {
        const { assert!(size_of::<Self>() == (LEN + 2 * HALO) * size_of::<T>()) };
        let first = core::ptr::from_ref(self).cast::<T>();
        // SAFETY: `self` is LEN + 2 * HALO elements of plain data in a row: the three arrays follow
        // one another without padding (`repr(C)`, one element type; asserted above). The borrow of
        // `self` covers all of them.
        unsafe { core::slice::from_raw_parts(first, LEN + 2 * HALO) }
    }

    /// Returns the elements from `HALO` before the tile's element `index` to `HALO` after it,
    /// `2 * HALO + 1` in all.
    ///
    /// # Panics
    ///
    /// If `index >= LEN`.
    #[inline(always)]
    #[track_caller]
    pub fn window(&self, index: usize) -> &[T] {
        assert!(index < LEN, "a window's centre lies in the tile's own part");
        &self.as_slice()[index..index + 2 * HALO + 1]
    }
}

// SAFETY: (0) three arrays of one plain element type in `repr(C)` order have no padding: every
// offset is a multiple of the element's size, hence of its alignment; (1) LEN >= 1 by the
// assertion, and LEAD + STRIDE = HALO + LEN <= COLUMNS.
unsafe impl<T: Element, const LEN: usize, const HALO: usize> Tile for HaloTile<T, LEN, HALO> {
    type Element = T;
    const COLUMNS: usize = LEN + 2 * HALO;
    const STRIDE: usize = checked_stride::<T>(LEN);
    const LEAD: usize = HALO;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::I32x4;

    #[test]
    fn a_tiles_alignment_is_the_largest_power_of_two_that_divides_its_size_and_its_halo() {
        assert_eq!(<[i32; 256]>::ALIGNMENT, 16);
        assert_eq!(<[i32; 6]>::ALIGNMENT, 8);
        assert_eq!(<[i32; 5]>::ALIGNMENT, 4);
        assert_eq!(<[I32x4; 3]>::ALIGNMENT, 16);
        assert_eq!(HaloTile::<f32, 128, 8>::ALIGNMENT, 16);
        assert_eq!(HaloTile::<f32, 128, 2>::ALIGNMENT, 8);
        assert_eq!(HaloTile::<f32, 128, 1>::ALIGNMENT, 4);
        assert_eq!(HaloTile::<f64, 128, 1>::ALIGNMENT, 8);
    }

    #[test]
    fn a_window_is_centred_on_its_element() {
        let tile: HaloTile<i32, 3, 2> = HaloTile { before: [0, 1], own: [2, 3, 4], after: [5, 6] };
        assert_eq!(tile.as_slice(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(tile.window(0), [0, 1, 2, 3, 4]);
        assert_eq!(tile.window(2), [2, 3, 4, 5, 6]);
    }

    #[test]
    #[should_panic(expected = "centre lies in the tile's own part")]
    fn a_window_around_a_neighbour_is_out_of_range() {
        let tile: HaloTile<i32, 3, 2> = HaloTile { before: [0; 2], own: [0; 3], after: [0; 2] };
        let _ = tile.window(3);
    }
}
