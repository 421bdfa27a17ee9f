//! The accepted neighbour of `fail/columns_by_bulk.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, ColumnTile2D, ColumnTiles2D, I32x4, Shared, Stages, TilesMut2D, kernel};

#[kernel]
fn transpose(
    block: Block<64>,
    input: ColumnTiles2D<I32x4, 8, 16>,
    mut out: TilesMut2D<I32x4, 16, 8>,
    shared: Shared<Stages<ColumnTile2D<I32x4, 8, 16>, 2>>,
) {
    let (tiles, mut results) = (input.by_columns().for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(column, row)]));
    });
}

fn main() {}
