//! An array that the copy engine finds by a map: what all kinds of tensors have.

use super::extents::Extents;
use crate::isa::{Corner, RawTensor};
use crate::view::geometry::Rows;
use crate::view::order::Stepped;
use crate::view::share::Share;

/// Where an array's map lies, and its extents.
///
/// # Invariants
///
/// 0. `map` is valid for as long as the launch, and was encoded for an array of `rows` rows of
///    `columns` elements, and of further dimensions, each 1 to 2^31 - 1 - 512. If the launch writes
///    it, nobody else uses the bytes behind each row up to a multiple of 16.
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

    /// The extent of a dimension behind the rows: of 2 planes, and so on; 1 where there are not so
    /// many dimensions.
    #[inline(always)]
    pub(super) fn outer(&self, dimension: usize) -> usize {
        // SAFETY: the map is valid for the launch (0); this field of it is plain data.
        let outer = unsafe { (*self.map).outer };
        outer[dimension - 2] as usize
    }

    /// How many boxes of extents `X` there are in a dimension but the columns, at least 1.
    #[inline(always)]
    fn boxes<X: Extents>(&self, dimension: usize) -> u32 {
        let there = if dimension == 1 { self.rows as usize } else { self.outer(dimension) };
        let stride = if dimension == 1 { X::STRIDE[0] } else { X::EXTENTS[dimension] };
        there.div_ceil(stride).max(1) as u32
    }

    /// How many rows of boxes there are, those of all planes counted through.
    #[inline(always)]
    pub(super) fn down<X: Extents>(&self) -> usize {
        match const { X::DIMENSIONS } {
            1 => 1,
            2 => (self.rows as usize).div_ceil(X::STRIDE[0]),
            // Whoever counts all of them sees that they are not too many.
            dimensions => (1..dimensions).fold(1_usize, |all, one| all.saturating_mul(self.boxes::<X>(one) as usize)),
        }
    }

    /// Where the box in this row and column of boxes begins, without what lies before its own part.
    #[inline(always)]
    pub(super) fn corner<X: Extents>(&self, row: usize, column: usize) -> Corner {
        if const { X::MATRICES } {
            // Fewer than 2^32 tiles, so as many matrices. (`column` is the matrix.)
            let (matrix, planes) = (column as u32, self.outer(2).max(1) as u32);
            return [0, (row * X::STRIDE[0]) as i32, (matrix % planes) as i32, (matrix / planes) as i32, 0];
        }
        if const { X::DIMENSIONS <= 2 } {
            let rows = (row * X::STRIDE[0]) as i32;
            return [(column * X::STRIDE[1]) as i32, rows, 0, 0, 0];
        }
        // Fewer than 2^32 boxes.
        let mut rest = row as u32;
        // The place in a dimension, of which the last takes what is left.
        let mut place = |dimension: usize| {
            if dimension >= X::DIMENSIONS {
                return 0;
            }
            let mut at = rest;
            if dimension + 1 < X::DIMENSIONS {
                let boxes = self.boxes::<X>(dimension);
                (rest, at) = (at / boxes, at % boxes);
            }
            at as i32 * X::EXTENTS[dimension] as i32
        };
        // Written out, so that no array lies in local memory.
        let (rows, planes, fourth, fifth) = (place(1), place(2), place(3), place(4));
        [(column * X::STRIDE[1]) as i32, rows, planes, fourth, fifth]
    }

    /// Which boxes of extents `X` are this block's.
    ///
    /// # Panics
    ///
    /// If there are 2^32 boxes or more.
    #[inline(always)]
    #[track_caller]
    pub(super) fn share<X: Extents, O: Stepped>(&self) -> Share<Rows> {
        let (columns, rows) = match const { X::DIMENSIONS } {
            1 | 2 => (self.columns as usize, self.rows as usize),
            _ if const { X::MATRICES } => {
                (self.outer(2).saturating_mul(self.outer(3)).saturating_mul(X::STRIDE[1]), self.rows as usize)
            }
            _ => (self.columns as usize, self.down::<X>().saturating_mul(X::STRIDE[0])),
        };
        let (division, boxes) = Rows::new(columns, rows, 0).divide_into(X::STRIDE);
        let numbers = X::deal::<O>(boxes);
        Share { division, numbers, count: numbers.count_below_2_32(), whole: false }
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

        /// Returns the extent of a dimension: of 0 the columns, of 1 the rows, of 2 the planes, and
        /// so on; 1 where there are not so many dimensions.
        ///
        /// # Panics
        ///
        /// If `dimension` is not below 5.
        #[inline(always)]
        #[track_caller]
        pub fn extent(&self, dimension: usize) -> usize {
            match dimension {
                0 => self.columns(),
                1 => self.rows(),
                _ => self.array.outer(dimension),
            }
        }

        /// Returns the number of boxes below one another in a plane, the partial last one included.
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

/// What a ring of output stages asks of a tensor, for a type with a field `array`, boxes of extents
/// `X`, and an order in which boxes are dealt out.
macro_rules! stored {
    ($order:ty) => {
        /// Where the box in this row and column of boxes begins; the rows of all planes are counted
        /// through.
        #[inline(always)]
        pub(crate) fn corner(&self, row: usize, column: usize) -> $crate::isa::Corner {
            use $crate::view::order::sealed::Stepped;
            let at = self.array.corner::<X>(row, column);
            if const { !<$order as Stepped>::FROM_END } {
                return at;
            }
            // Tiles are counted matrix by matrix in such an order.
            let [column, row, plane, fourth, fifth] = at;
            [column, row - <$order as Stepped>::rows_in_front(self.rows(), X::STRIDE[0]) as i32, plane, fourth, fifth]
        }

        /// The map by which the engine finds the boxes.
        #[inline(always)]
        pub(crate) fn map(&self) -> *const $crate::isa::RawTensor {
            self.array.map()
        }

        /// Which boxes are this block's, where they are dealt out.
        #[inline(always)]
        #[track_caller]
        pub(crate) fn share(&self) -> $crate::view::share::Share<$crate::view::geometry::Rows> {
            self.array.share::<X, $order>()
        }
    };
}
pub(super) use stored;
