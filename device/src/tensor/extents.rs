//! The extents of a box.

use core::fmt::Debug;

use crate::element::Element;
use crate::isa::DIMENSIONS;
use crate::isa::product::GROUP_ROWS;
use crate::marker::{RoleShared, Uniform};
use crate::view::numbers::TileNumbers;
use crate::view::order::Stepped;

/// The extents of a tensor's boxes: [`Extents2`], or [`Halo2`] for boxes that overlap; [`Extents3`]
/// for batches of matrices, and [`Extents1`], [`Extents4`] and [`Extents5`]. Sealed.
pub trait Extents: Copy + 'static + sealed::Extents {}

/// Boxes of `COLUMNS` elements of an array of one dimension, side by side.
#[derive(Clone, Copy, Debug)]
pub enum Extents1<const COLUMNS: usize> {}

/// Boxes of `ROWS` rows of `COLUMNS` elements, side by side.
#[derive(Clone, Copy, Debug)]
pub enum Extents2<const ROWS: usize, const COLUMNS: usize> {}

/// Boxes of `PLANES` planes of `ROWS` rows of `COLUMNS` elements, side by side: boxes of an array
/// of three dimensions, such as a batch of matrices.
///
/// A box ends at the last row of a plane: what of it lies beyond is zero, and is not the next
/// plane's. The tile of a box has the rows of its planes one after the other.
#[derive(Clone, Copy, Debug)]
pub enum Extents3<const PLANES: usize, const ROWS: usize, const COLUMNS: usize> {}

/// As [`Extents3`], of an array of four dimensions.
#[derive(Clone, Copy, Debug)]
pub enum Extents4<const FOURTH: usize, const PLANES: usize, const ROWS: usize, const COLUMNS: usize> {}

/// As [`Extents3`], of an array of five dimensions.
#[derive(Clone, Copy, Debug)]
pub enum Extents5<const FIFTH: usize, const FOURTH: usize, const PLANES: usize, const ROWS: usize, const COLUMNS: usize>
{}

/// Tiles of `ROWS` rows of `COLUMNS` elements that a kernel writes in panels of `PANEL` columns:
/// the sums of a matrix product, which are wider than a swizzled row can be. Of an output the copy
/// engine stores 64 rows of a panel at once, those of a warpgroup. Where `PANEL` does not divide
/// `COLUMNS` the last panel begins so much earlier that it ends with the tile: a few columns are
/// written twice, the same.
///
/// A block's tile is written by [`OutputRing::store_sums`](crate::OutputRing::store_sums). As the
/// extents of an [`OperandTile`](crate::product::OperandTile) they are those of a factor whose rows
/// are not along K: `ROWS` elements along K, and `COLUMNS` rows or columns of the product. `PANEL`
/// divides these, or it does not compile.
pub type Panels2<const ROWS: usize, const COLUMNS: usize, const PANEL: usize> = Panels<ROWS, COLUMNS, PANEL, 2>;

/// As [`Panels2`], of the matrices of an array of four dimensions: of sequences, and in each of
/// those the heads of attention. A tile is as wide as a matrix: columns behind its own read as
/// zeros, and are not written.
///
/// Tiles end with their matrix. They are counted as if the matrices lay side by side, so a tile's
/// place is its row of tiles and the number of its matrix: those of the first plane of the fourth
/// dimension come first.
pub type Panels4<const ROWS: usize, const COLUMNS: usize, const PANEL: usize> = Panels<ROWS, COLUMNS, PANEL, 4>;

/// Tiles in panels, of an array of two or four dimensions: [`Panels2`] and [`Panels4`].
#[derive(Clone, Copy, Debug)]
pub enum Panels<const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize> {}

/// Boxes of `ROWS` rows of `COLUMNS` elements with `ABOVE` more rows above and below and `BESIDE`
/// more elements on either side, which the neighbouring boxes have, too.
///
/// A row of a box is a multiple of 16 bytes, and so are the `BESIDE` elements, or it does not
/// compile: the copy engine begins a row nowhere else.
#[derive(Clone, Copy, Debug)]
pub enum Halo2<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> {}

/// The extents of boxes of matrices: [`Extents2`], [`Panels2`] and [`Halo2`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no extents of boxes of a matrix",
    label = "not of two dimensions",
    note = "`at(row, column)` is for `Extents2`, `Panels2` and `Halo2`"
)]
pub trait MatrixExtents: Extents {}

/// The extents of boxes that a kernel writes: all but [`Halo2`], since they don't overlap. Sealed.
#[diagnostic::on_unimplemented(
    message = "boxes of `{Self}` can't be written",
    label = "these boxes overlap, or are no extents of a box",
    note = "two blocks would write what lies in both of two neighbouring boxes: take `Extents2<ROWS, COLUMNS>` for an output"
)]
pub trait OutputExtents: Extents {}

impl<const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize> Extents
    for Panels<ROWS, COLUMNS, PANEL, ARRAY>
{
}
impl<const ROWS: usize, const COLUMNS: usize, const PANEL: usize> MatrixExtents for Panels2<ROWS, COLUMNS, PANEL> {}
impl<const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize> OutputExtents
    for Panels<ROWS, COLUMNS, PANEL, ARRAY>
{
}
impl<const ROWS: usize, const COLUMNS: usize, const PANEL: usize, const ARRAY: usize> sealed::Extents
    for Panels<ROWS, COLUMNS, PANEL, ARRAY>
{
    const DIMENSIONS: usize = {
        assert!(ARRAY == 2 || ARRAY == 4, "tiles in panels are of an array of two or of four dimensions");
        ARRAY
    };
    const EXTENTS: [usize; DIMENSIONS] = {
        assert!(
            PANEL > 0 && PANEL <= COLUMNS,
            "a tile of `Panels2<ROWS, COLUMNS, PANEL>` has as many columns as a panel at least"
        );
        [PANEL, ROWS, 1, 1, 1]
    };
    const OF_SUMS: bool = true;
    const STORED: [usize; DIMENSIONS] =
        [PANEL, if ROWS.is_multiple_of(GROUP_ROWS) { GROUP_ROWS } else { ROWS }, 1, 1, 1];
    const STRIDE: [usize; 2] = [ROWS, COLUMNS];
    const PANELS: usize = {
        assert!(
            COLUMNS.is_multiple_of(PANEL),
            "the columns of an operand's tile of `Panels2<ROWS, COLUMNS, PANEL>` are whole panels"
        );
        COLUMNS / PANEL
    };
    const MATRICES: bool = ARRAY == 4;
    type Room<T: Element> = [[T; PANEL]; ROWS];

    #[inline(always)]
    fn deal<O: Stepped>(tiles: usize) -> TileNumbers {
        O::numbers_in_groups(tiles)
    }
}

impl<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> Extents
    for Halo2<ROWS, COLUMNS, ABOVE, BESIDE>
{
}
impl<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> MatrixExtents
    for Halo2<ROWS, COLUMNS, ABOVE, BESIDE>
{
}
impl<const ROWS: usize, const COLUMNS: usize> MatrixExtents for Extents2<ROWS, COLUMNS> {}

pub(crate) mod sealed {
    use super::{DIMENSIONS, Debug, Element, RoleShared, Stepped, TileNumbers, Uniform};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no extents of a box: `Extents` is sealed",
        label = "not `Extents2` or `Halo2`",
        note = "take `Extents2<ROWS, COLUMNS>`, or `Halo2<ROWS, COLUMNS, ABOVE, BESIDE>` for boxes with neighbours"
    )]
    pub trait Extents {
        /// How many dimensions an array has that it divides.
        const DIMENSIONS: usize;
        /// Columns of a box, its rows, planes and so on; 1 where there are not so many dimensions.
        const EXTENTS: [usize; DIMENSIONS];
        /// The same of what the engine stores at once of a box that a kernel writes: whole rows of
        /// it, from the first on.
        const STORED: [usize; DIMENSIONS] = Self::EXTENTS;
        /// Whether a kernel writes such tiles by the stores of sums alone, each warpgroup its rows.
        const OF_SUMS: bool = false;
        /// Rows, of all planes, and columns of a box.
        const BOX: [usize; 2] = {
            let [columns, rows, planes, fourth, fifth] = Self::EXTENTS;
            [rows * planes * fourth * fifth, columns]
        };
        /// Rows, of a plane, and columns from one box's start to the next one's.
        const STRIDE: [usize; 2] = [Self::EXTENTS[1], Self::EXTENTS[0]];
        /// Rows and columns of a box that lie before its own part.
        const LEAD: [usize; 2] = [0, 0];
        /// Boxes of a tile that is read, side by side in its rows.
        const PANELS: usize = 1;
        /// Whether a tile is as wide as a matrix of the array, and tiles are counted as if its
        /// matrices lay side by side.
        const MATRICES: bool = false;
        /// The room for a box: its elements.
        type Room<T: Element>: Copy + Uniform + RoleShared + Send + Sync + 'static;

        /// The block's numbers of `tiles` tiles in an order.
        #[inline(always)]
        fn deal<O: Stepped>(tiles: usize) -> TileNumbers {
            O::numbers(tiles)
        }
    }

    /// Rows of a halo's box, with those above and below: arrays in a row without padding.
    #[repr(C)]
    #[derive(Clone, Copy, Debug)]
    pub struct WithHalo<R, const ROWS: usize, const ABOVE: usize> {
        above: [R; ABOVE],
        own: [R; ROWS],
        below: [R; ABOVE],
    }
}

/// What extents are whose boxes lie side by side.
macro_rules! side_by_side {
    ($($name:ident<$($extent:ident),+>: $dimensions:literal, $extents:expr, $room:ty;)+) => {$(
        impl<$(const $extent: usize),+> Extents for $name<$($extent),+> {}
        impl<$(const $extent: usize),+> OutputExtents for $name<$($extent),+> {}
        impl<$(const $extent: usize),+> sealed::Extents for $name<$($extent),+> {
            const DIMENSIONS: usize = $dimensions;
            const EXTENTS: [usize; DIMENSIONS] = $extents;
            type Room<T: Element> = $room;
        }
    )+};
}
side_by_side! {
    Extents1<COLUMNS>: 1, [COLUMNS, 1, 1, 1, 1], [T; COLUMNS];
    Extents2<ROWS, COLUMNS>: 2, [COLUMNS, ROWS, 1, 1, 1], [[T; COLUMNS]; ROWS];
    Extents3<PLANES, ROWS, COLUMNS>: 3, [COLUMNS, ROWS, PLANES, 1, 1], [[[T; COLUMNS]; ROWS]; PLANES];
    Extents4<FOURTH, PLANES, ROWS, COLUMNS>: 4, [COLUMNS, ROWS, PLANES, FOURTH, 1], [[[[T; COLUMNS]; ROWS]; PLANES]; FOURTH];
    Extents5<FIFTH, FOURTH, PLANES, ROWS, COLUMNS>: 5, [COLUMNS, ROWS, PLANES, FOURTH, FIFTH],
        [[[[[T; COLUMNS]; ROWS]; PLANES]; FOURTH]; FIFTH];
}

impl<const ROWS: usize, const COLUMNS: usize, const ABOVE: usize, const BESIDE: usize> sealed::Extents
    for Halo2<ROWS, COLUMNS, ABOVE, BESIDE>
{
    const DIMENSIONS: usize = 2;
    const EXTENTS: [usize; DIMENSIONS] = [COLUMNS + 2 * BESIDE, ROWS + 2 * ABOVE, 1, 1, 1];
    const STRIDE: [usize; 2] = [ROWS, COLUMNS];
    const LEAD: [usize; 2] = [ABOVE, BESIDE];
    type Room<T: Element> = sealed::WithHalo<sealed::WithHalo<T, COLUMNS, BESIDE>, ROWS, ABOVE>;
}
