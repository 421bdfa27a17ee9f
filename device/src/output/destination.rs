//! What a driver writes its results to.

use super::arrangement::Arrangement;
use super::tile::{OutputTile, TileMut};
use super::tiles::BlockTilesMut;
use crate::view::geometry::Geometry;
use crate::view::numbers::TileNumbers;
use crate::view::order::Order;

/// What [`map_tiles`](crate::Pipeline::map_tiles) writes its results to: a block's share of an
/// output view ([`BlockTilesMut`]), or a ring of output stages ([`OutputRing`](crate::OutputRing)).
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "a driver can't write to `{Self}`",
    label = "not a block's share of an output",
    note = "pass `&mut out.for_block(&block)` of an output view, or `&mut memory.outputs(&block, out)` of a `TensorMut` or a \
            `BulkTilesMut`",
    note = "no box of a `TileReduction` is a block's own: take `for_each_tile`, and `results.tile_at(row, column)` in its closure"
)]
pub trait Destination: sealed::Destination {}

pub(crate) mod sealed {
    use super::{Order, TileNumbers};

    #[diagnostic::on_unimplemented(
        message = "a driver can't write to `{Self}`",
        label = "not a block's share of an output",
        note = "pass `&mut out.for_block(&block)` of an output view, or `&mut memory.outputs(&block, out)` of a `TensorMut` or a \
            `BulkTilesMut`"
    )]
    pub trait Destination {
        /// One tile, to be written.
        type Tile<'v>;
        /// The order of the tiles.
        type Order: Order;
        /// Whether nothing has to be checked to write any tile that exists.
        const ALL_WHOLE: bool = false;

        /// How many they are, counted once.
        fn count(&self) -> usize;

        /// Which of the output's tiles they are.
        fn numbers(&self) -> TileNumbers;

        /// A bound on tile numbers: all of the block's tiles with lower numbers exist, and nothing
        /// has to be checked to write them.
        fn whole_below(&self) -> usize;

        /// The block's tile `index`.
        ///
        /// # Safety
        ///
        /// It exists. The tile that was returned before is not used any more.
        unsafe fn tile<'v>(&mut self, index: usize) -> Self::Tile<'v>;

        /// The block's tile `index`.
        ///
        /// # Safety
        ///
        /// Its number lies below `whole_below`. The tile that was returned before is not used any
        /// more.
        unsafe fn whole<'v>(&mut self, index: usize) -> Self::Tile<'v>;
    }
}

impl<S: OutputTile, G: Geometry, A: Arrangement, O: Order, const THREADS: usize> Destination
    for BlockTilesMut<'_, '_, S, THREADS, G, A, O>
{
}

impl<'b, S: OutputTile, G: Geometry, A: Arrangement, O: Order, const THREADS: usize> sealed::Destination
    for BlockTilesMut<'_, 'b, S, THREADS, G, A, O>
{
    type Tile<'v> = TileMut<'v, 'b, S, THREADS, A>;
    type Order = O;

    #[inline(always)]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn numbers(&self) -> TileNumbers {
        BlockTilesMut::numbers(self)
    }

    #[inline(always)]
    fn whole_below(&self) -> usize {
        BlockTilesMut::whole_below(self)
    }

    #[inline(always)]
    unsafe fn tile<'v>(&mut self, index: usize) -> TileMut<'v, 'b, S, THREADS, A> {
        // SAFETY: the caller's promises.
        unsafe { self.tile_at(index, false) }
    }

    #[inline(always)]
    unsafe fn whole<'v>(&mut self, index: usize) -> TileMut<'v, 'b, S, THREADS, A> {
        // SAFETY: the caller's promises.
        unsafe { self.tile_at(index, true) }
    }
}
