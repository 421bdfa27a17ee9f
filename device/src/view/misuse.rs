//! Uses of views that are no steps: they exist to say so, and can't be called.

use core::convert::Infallible;
use core::ops::Index;

use super::geometry::Geometry;
use super::tile_ref::TileRef;
use super::tiles::{BlockTiles, TileView};
use crate::marker::NoPosition;
use crate::tile::Tile;

/// The index of a view: no type is one.
#[diagnostic::on_unimplemented(
    message = "a view of global memory can't be indexed",
    label = "not a tile in shared memory",
    note = "`view.at(i)` and `view.get(i)` read one element, and `view.run::<N>(i)` several in a row, straight from global memory; \
            a tile is read where it has landed: copy it to a stage, and index what `wait` returns or what a driver hands over"
)]
pub trait PositionInView: NoPosition {}

/// The index of a block's share of a view: no type is one.
#[diagnostic::on_unimplemented(
    message = "a block's tiles of a view can't be indexed: they lie in global memory",
    label = "not a tile in shared memory",
    note = "`tiles.get(i)` is the block's tile number `i`, to be copied to a stage: a driver does it, \
            `pipeline.map_tiles(&tiles, ..)`, or by hand `pipe.acquire().copy(tiles.get(i))`; elements that are read once need no \
            stage, `view.at(i)`"
)]
pub trait PositionInShare: NoPosition {}

/// The index of a tile of a view: no type is one.
#[diagnostic::on_unimplemented(
    message = "this tile lies in global memory: it can't be indexed before it was copied",
    label = "a tile of a view, not one in shared memory",
    note = "copy it to a stage, `pipe.acquire().copy(tile)`, and index what `wait` returns; elements that are read once need no stage, \
            `view.at(i)`"
)]
pub trait PositionInGlobal: NoPosition {}

impl<S: Tile, G: Geometry, I: PositionInView> Index<I> for TileView<'_, S, G> {
    type Output = Infallible;

    fn index(&self, _: I) -> &Infallible {
        unreachable!("nothing is a position in a view")
    }
}

impl<S: Tile, G: Geometry, O, I: PositionInShare> Index<I> for BlockTiles<'_, S, G, O> {
    type Output = Infallible;

    fn index(&self, _: I) -> &Infallible {
        unreachable!("nothing is a position in a block's share of a view")
    }
}

impl<S: Tile, I: PositionInGlobal> Index<I> for TileRef<'_, S> {
    type Output = Infallible;

    fn index(&self, _: I) -> &Infallible {
        unreachable!("nothing is a position in a tile of a view")
    }
}
