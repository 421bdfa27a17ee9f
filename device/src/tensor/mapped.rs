//! An array that the copy engine finds by a map: what all kinds of tensors have.

use super::extents::Extents;
use crate::isa::RawTensor;
use crate::view::geometry::Rows;
use crate::view::numbers::TileNumbers;
use crate::view::share::Share;

/// Where an array's map lies, and its extents.
///
/// # Invariants
///
/// 0. `map` is valid for as long as the launch, and was encoded for an array of `rows` rows of
///    `columns` elements, each 1 to 2^31 - 1 - 512. If the launch writes it, nobody else uses the
///    bytes behind each row up to a multiple of 16.
#[derive(Clone, Copy)]
pub(super) struct Mapped {
    map: *const RawTensor,
    rows: u32,
    columns: u32,
}

impl Mapped {
    /// Makes the array whose map lies at `map`.
    ///
    /// # Safety
    ///
    /// Invariant 0 holds for the map's own rows and columns.
    #[inline(always)]
    pub(super) unsafe fn new(map: *const RawTensor) -> Self {
        // SAFETY: the map is valid for the launch (0); this field of it is plain data.
        let rows = unsafe { (*map).rows };
        // SAFETY: as above.
        let columns = unsafe { (*map).columns };
        Mapped { map, rows, columns }
    }

    /// The map by which the engine finds the boxes.
    #[inline(always)]
    pub(super) fn map(&self) -> *const RawTensor {
        self.map
    }

    /// Rows and elements of a row.
    #[inline(always)]
    pub(super) fn extents(&self) -> [usize; 2] {
        [self.rows as usize, self.columns as usize]
    }

    /// Which boxes of extents `X` are this block's.
    ///
    /// # Panics
    ///
    /// If there are 2^32 boxes or more.
    #[inline(always)]
    #[track_caller]
    pub(super) fn share<X: Extents>(&self) -> Share<Rows> {
        let [rows, columns] = self.extents();
        let (division, boxes) = Rows::new(columns, rows, 0).divide_into(X::STRIDE);
        let numbers = TileNumbers::of_block(boxes);
        Share { division, numbers, count: numbers.count(), whole: false }
    }
}

/// What a tensor says of its extents, for a type with a field `array` and boxes of extents `X`.
macro_rules! extents {
    () => {
        /// Returns the number of elements in a row.
        #[inline(always)]
        pub fn columns(&self) -> usize {
            self.array.extents()[1]
        }

        /// Returns the number of rows.
        #[inline(always)]
        pub fn rows(&self) -> usize {
            self.array.extents()[0]
        }

        /// Returns the number of boxes below one another, the partial last one included.
        #[inline(always)]
        pub fn box_rows(&self) -> usize {
            self.rows().div_ceil(X::STRIDE[0])
        }

        /// Returns the number of boxes beside one another, the partial last one included.
        #[inline(always)]
        pub fn box_columns(&self) -> usize {
            self.columns().div_ceil(X::STRIDE[1])
        }
    };
}
pub(super) use extents;
