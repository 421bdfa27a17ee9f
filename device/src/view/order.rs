//! Which tiles of a view a block works through, and in which order.

use super::geometry::{Geometry, Rows};
use super::numbers::TileNumbers;
// circle: an order says what a block's share of a view is
use super::rows::BlockRows;
// circle: as above
use super::tiles::BlockTiles;
use crate::group::block::Block;
use crate::tile::Tile;

/// In which order a view's tiles are dealt to blocks: [`Cyclic`], [`Consecutive`] or [`WholeRows`];
/// or to warps or threads of all blocks, [`ByWarps`] or [`ByThreads`]. Sealed.
///
/// An output has its order in its type ([`TilesMut`](crate::TilesMut) and its like), so that no
/// tile is ever dealt to two blocks. An input, which nobody writes, is taken in any order:
/// [`TileView::in_order`](crate::TileView::in_order).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no order of tiles",
    label = "not `Cyclic`, `Consecutive`, `WholeRows`, `ByWarps` or `ByThreads`",
    note = "the order is the last parameter of an output's type, after the arrangement: `TilesMut<f32, 256, Striped, Consecutive>`"
)]
pub trait Order: sealed::Order + 'static {}

/// An order in which a block's tiles have one number after the other, at equal distances:
/// [`Cyclic`] or [`Consecutive`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "the tiles of this view are not dealt in the order `{Self}`",
    label = "`Cyclic` and `Consecutive` are possible here",
    note = "`WholeRows` is for views that threads read or write, of two dimensions, by `row` and `row_mut`",
    note = "`ByWarps` and `ByThreads` are written by warps or threads alone: `out.for_warps(&block)` and `out.for_threads(&block)`"
)]
pub trait Stepped: Order + sealed::Stepped {}

/// Every `grid`-th tile from the block's own index on: a grid-stride loop. All blocks work close to
/// one another, so that they read the same pages and share what is in the cache.
///
/// CUDA: `for (i = blockIdx.x; i < tiles; i += gridDim.x)`.
#[derive(Clone, Copy, Debug)]
pub enum Cyclic {}

/// Tiles in a row: `q` or `q + 1` of them for each block, where `q` is the number of tiles divided
/// by that of blocks, the larger shares first. For sums that go from each tile to the next, such as
/// a running total.
///
/// CUDA: `first = blockIdx.x * q + min(blockIdx.x, tiles % gridDim.x)`.
#[derive(Clone, Copy, Debug)]
pub enum Consecutive {}

/// Tiles by warps, each of which has a share of its own: warp `w` of `n` in block `b` has every
/// `grid * n`-th tile from `b * n + w` on. For pipelines of each warp's own.
///
/// An input is taken so by [`for_warp`](crate::TileView::for_warp), and an output is written so by
/// [`for_warps`](crate::TileViewMut::for_warps).
#[derive(Clone, Copy, Debug)]
pub enum ByWarps {}

/// Tiles by threads, each of which has a share of its own, as warps have in [`ByWarps`]. For
/// pipelines of each thread's own: [`for_thread`](crate::TileView::for_thread) of an input, and
/// [`for_threads`](crate::TileViewMut::for_threads) of an output.
#[derive(Clone, Copy, Debug)]
pub enum ByThreads {}

/// Every `grid`-th row of tiles, and in it all tiles from left to right: for work on whole rows of
/// a matrix, such as softmax.
///
/// CUDA: `for (row = blockIdx.x; row < rows; row += gridDim.x)` around a loop over the row.
#[derive(Clone, Copy, Debug)]
pub enum WholeRows {}

/// As [`Cyclic`], of tiles that are counted in groups of `ROWS` rows of tiles, in each column by
/// column: the blocks that run at one time work on a patch of the output, and share the rows and
/// columns of the factors in the cache. For outputs of matrix products
/// ([`Panels2`](crate::Panels2)).
///
/// CUDA: `GROUP_SIZE_M` of Triton's tutorial, CUTLASS' swizzled tile schedulers.
#[derive(Clone, Copy, Debug)]
pub enum Grouped<const ROWS: usize> {}

/// Tiles from the last row to the first, for work that grows from row to row, as that below a
/// diagonal does: long tiles come first, so that blocks end at about the same time. Of two rounds
/// of the grid one goes backwards, so that whoever had the longest tile of a round gets the
/// shortest one of the next. The last round goes forwards behind one that went backwards: where it
/// has not a tile for each block, those that have one had the shortest before. For outputs of
/// matrix products ([`Panels2`](crate::Panels2)).
///
/// Where fewer columns of tiles than there are make a multiple of two rounds, these are worked
/// through before the next ones, and what their tiles read stays in the cache.
///
/// CUDA: the longest-processing-time-first schedulers of FlashAttention.
#[derive(Clone, Copy, Debug)]
pub enum LastFirst {}

/// As [`LastFirst`], of tiles that are counted back from the last row of a matrix. Where tiles do
/// not divide the rows it is the first tile that has fewer, by all 64 rows of a warpgroup or of
/// two: it begins so many rows in front of the first one, as
/// [`row_of_tile`](crate::Tensor::row_of_tile) says, and nothing is stored of those. (The last tile
/// may have up to 63 rows fewer.) For work that grows from row to row: the tile with fewer rows is
/// the shortest one then, and not the longest. For outputs of matrix products
/// ([`Panels2`](crate::Panels2)).
///
/// CUDA: none.
#[derive(Clone, Copy, Debug)]
pub enum FromEnd {}

impl Order for LastFirst {}
impl Stepped for LastFirst {}
impl Order for FromEnd {}
impl Stepped for FromEnd {}
impl<const ROWS: usize> Order for Grouped<ROWS> {}
impl<const ROWS: usize> Stepped for Grouped<ROWS> {}
impl Order for Cyclic {}
impl Order for Consecutive {}
impl Order for WholeRows {}
impl Order for ByWarps {}
impl Order for ByThreads {}
impl Stepped for Cyclic {}
impl Stepped for Consecutive {}

/// Says that two orders are the same one. Sealed.
#[diagnostic::on_unimplemented(
    message = "tiles in the order `{Self}` don't go with tiles in the order `{Other}`",
    label = "two orders in one step",
    note = "a driver, a tuple of inputs and `hoist_bounds` take shares of one order: an input has the one that `in_order::<..>(&block)` \
            names (`for_block` is `Cyclic`, `for_warp` is `ByWarps`, `for_thread` is `ByThreads`), and an output the one in its type"
)]
pub trait SameOrder<Other>: sealed::SameOrder<Other> {}

#[diagnostic::do_not_recommend]
impl<O: Order> SameOrder<O> for O {}
#[diagnostic::do_not_recommend]
impl<O: Order> SameOrder<Undecided> for O {}

/// The order of no view. With one order alone that goes with each, the compiler would conclude that
/// a second part has that one, and report that it hasn't, without the words of [`SameOrder`].
pub enum Undecided {}

/// An order in which a view of geometry `G` can be taken. Sealed.
#[diagnostic::on_unimplemented(
    message = "a view of `{G}` has no tiles in the order `{Self}`",
    label = "not an order of this view's tiles",
    note = "`Cyclic` and `Consecutive` are orders of all views; `WholeRows` of views of two dimensions, `Tiles2D` and `Halos2D`"
)]
pub trait OrderOf<G: Geometry>: Order + sealed::OrderOf<G> {}

impl<G: Geometry, O: Stepped> OrderOf<G> for O {}
impl OrderOf<Rows> for WholeRows {}

/// A [`Block`] of any size. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no block",
    label = "not the kernel's `Block`",
    note = "tiles are dealt to blocks: pass the kernel's `&block`"
)]
pub trait AnyBlock: sealed::AnyBlock {}

impl<const THREADS: usize> AnyBlock for Block<'_, THREADS> {}

pub(crate) mod sealed {
    use super::{Block, BlockTiles, Geometry, Tile, TileNumbers};
    use crate::isa::product::GROUP_ROWS;
    // circle: as above
    use crate::view::tiles::TileView;

    #[diagnostic::on_unimplemented(
        message = "`{Self}` is no order of tiles",
        label = "not `Cyclic`, `Consecutive` or `WholeRows`",
        note = "outputs trust that an order deals no tile to two blocks"
    )]
    pub trait Order {
        /// Whether a block's share depends on where the view ends: if not, the shares of two views
        /// have the same numbers up to the end of the shorter one.
        const BY_TILES: bool;
    }

    pub trait Stepped {
        /// Rows of tiles that are counted together; 0 if tiles are counted row by row.
        const GROUP: usize = 0;
        /// Whether tiles are counted from the last one on, and every second round backwards.
        const LAST_FIRST: bool = false;
        /// Whether tiles are counted back from the last row of a matrix.
        const FROM_END: bool = false;

        /// How many rows of the first of a matrix's tiles, of so many rows each, lie in front of
        /// its first row: fewer than a tile has, and whole slices, which are not stored. (The copy
        /// engine fails at a store that begins before the tensor: docs/decisions/111.)
        #[inline(always)]
        fn rows_in_front(rows: usize, of_tile: usize) -> usize {
            let more = of_tile - 1 - (rows + (of_tile - 1)) % of_tile;
            if Self::FROM_END { more / GROUP_ROWS * GROUP_ROWS } else { 0 }
        }

        /// The block's numbers among those below `tiles`, of tiles that are counted as the order
        /// says. No two blocks get the same number, and together they get all.
        fn numbers_in_groups(tiles: usize) -> TileNumbers;

        /// The same of tiles that are counted row by row.
        #[inline(always)]
        fn numbers(tiles: usize) -> TileNumbers {
            const {
                assert!(
                    Self::GROUP == 0 && !Self::LAST_FIRST,
                    "`Grouped`, `LastFirst` and `FromEnd` are orders of tiles of `Panels2`: take `Cyclic` for others"
                );
            }
            Self::numbers_in_groups(tiles)
        }
    }

    pub trait AnyBlock {}

    impl<const THREADS: usize> AnyBlock for Block<'_, THREADS> {}

    pub trait SameOrder<Other> {}

    #[diagnostic::do_not_recommend]
    impl<O: Order> SameOrder<O> for O {}
    #[diagnostic::do_not_recommend]
    impl<O: Order> SameOrder<super::Undecided> for O {}

    pub trait OrderOf<G: Geometry> {
        /// The tiles of a block.
        type Tiles<'k, S: Tile>;

        /// Those of this view.
        fn deal<'k, S: Tile>(view: TileView<'k, S, G>) -> Self::Tiles<'k, S>;
    }

    impl<G: Geometry, O: super::Stepped> OrderOf<G> for O {
        type Tiles<'k, S: Tile> = BlockTiles<'k, S, G, O>;

        #[inline(always)]
        #[track_caller]
        fn deal<'k, S: Tile>(view: TileView<'k, S, G>) -> BlockTiles<'k, S, G, O> {
            BlockTiles::of_block(view)
        }
    }
}

impl sealed::Order for Cyclic {
    const BY_TILES: bool = false;
}

impl sealed::Order for Consecutive {
    const BY_TILES: bool = true;
}

impl sealed::Order for WholeRows {
    const BY_TILES: bool = true;
}

impl<const ROWS: usize> sealed::Order for Grouped<ROWS> {
    const BY_TILES: bool = false;
}

impl<const ROWS: usize> sealed::Stepped for Grouped<ROWS> {
    const GROUP: usize = {
        assert!(ROWS > 0 && ROWS <= 1024, "a group has 1 to 1024 rows of tiles");
        ROWS
    };

    #[inline(always)]
    fn numbers_in_groups(tiles: usize) -> TileNumbers {
        TileNumbers::of_block(tiles)
    }
}

impl sealed::Order for LastFirst {
    const BY_TILES: bool = true;
}

impl sealed::Stepped for LastFirst {
    const LAST_FIRST: bool = true;

    #[inline(always)]
    fn numbers_in_groups(tiles: usize) -> TileNumbers {
        TileNumbers::of_block(tiles)
    }
}

impl sealed::Order for FromEnd {
    const BY_TILES: bool = true;
}

impl sealed::Stepped for FromEnd {
    const LAST_FIRST: bool = true;
    const FROM_END: bool = true;

    #[inline(always)]
    fn numbers_in_groups(tiles: usize) -> TileNumbers {
        TileNumbers::of_block(tiles)
    }
}

impl sealed::Order for ByWarps {
    const BY_TILES: bool = false;
}

impl sealed::Order for ByThreads {
    const BY_TILES: bool = false;
}

impl sealed::Stepped for Cyclic {
    #[inline(always)]
    fn numbers_in_groups(tiles: usize) -> TileNumbers {
        TileNumbers::of_block(tiles)
    }
}

impl sealed::Stepped for Consecutive {
    #[inline(always)]
    fn numbers_in_groups(tiles: usize) -> TileNumbers {
        TileNumbers::in_a_row_of_block(tiles)
    }
}

impl sealed::OrderOf<Rows> for WholeRows {
    type Tiles<'k, S: Tile> = BlockRows<'k, S>;

    #[inline(always)]
    #[track_caller]
    fn deal<'k, S: Tile>(view: super::tiles::TileView<'k, S, Rows>) -> BlockRows<'k, S> {
        BlockRows::of_block(view)
    }
}

/// Fails the launch unless both shares of a block have the same numbers, where that does not follow
/// from their order.
#[inline(always)]
#[track_caller]
pub(crate) fn check_same<O: Order>(one: TileNumbers, other: TileNumbers) {
    if O::BY_TILES {
        one.check_same(other);
    }
}
