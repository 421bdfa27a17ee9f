//! A block's rows of tiles.

use super::geometry::sealed::Geometry as _;
use super::geometry::{Rows, TileColumns};
use super::numbers::TileNumbers;
use super::order::WholeRows;
use super::tiles::{BlockTiles, TileView};
use crate::fault;
use crate::tile::Tile;

/// Which rows of tiles are a block's: every `grid`-th one from the block's index on.
///
/// # Invariants
///
/// 0. `numbers` are the block's among the rows of tiles of the view that `division` divides, and
///    `count` is how many they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowShare {
    division: TileColumns,
    numbers: TileNumbers,
    count: usize,
}

impl RowShare {
    /// The block's rows of tiles of shape `S`.
    ///
    /// # Panics
    ///
    /// If there are 2^32 tiles or more.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn of_block<S: Tile>(geometry: Rows) -> Self {
        const { assert!(S::STRIDE > 0 && S::ROW_STRIDE > 0) };
        let (division, _) = geometry.divide::<S>();
        let numbers = TileNumbers::of_block(geometry.tile_rows::<S>());
        RowShare { division, numbers, count: numbers.count() }
    }

    /// How many they are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// How many tiles lie beside one another.
    #[inline(always)]
    pub(crate) fn division(&self) -> TileColumns {
        self.division
    }

    /// The number of the block's row `index` among the view's rows of tiles.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn number(&self, index: usize) -> usize {
        if index >= self.count {
            fault::out_of_range("row {} of tiles is out of range: this block has {}", index, self.count);
        }
        self.numbers.number(index)
    }
}

/// The rows of tiles of one block, each with all of its tiles:
/// [`in_order::<WholeRows>`](TileView::in_order) of a view of two dimensions.
///
/// CUDA: `for (row = blockIdx.x; row < rows; row += gridDim.x)`.
#[derive(Clone, Copy)]
pub struct BlockRows<'k, S: Tile> {
    view: TileView<'k, S, Rows>,
    share: RowShare,
}

impl<'k, S: Tile> BlockRows<'k, S> {
    /// The rows of tiles of this block.
    #[inline(always)]
    #[track_caller]
    pub(super) fn of_block(view: TileView<'k, S, Rows>) -> Self {
        BlockRows { view, share: RowShare::of_block::<S>(view.geometry()) }
    }

    /// Returns how many rows of tiles the block has; 0 where blocks outnumber them.
    #[expect(clippy::len_without_is_empty, reason = "`len() == 0` says it in a kernel's loop as well")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.share.len()
    }

    /// Returns the number of the block's row `index` among the view's rows of tiles:
    /// `index * grid + block`.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn number(&self, index: usize) -> usize {
        self.share.number(index)
    }

    /// Returns the tiles of the block's row `index`, from left to right.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn row(&self, index: usize) -> BlockTiles<'k, S, Rows, WholeRows> {
        BlockTiles::of_row(self.view, self.share.division(), self.share.number(index))
    }
}
