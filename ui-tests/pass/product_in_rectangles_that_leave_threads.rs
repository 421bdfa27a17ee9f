//! The accepted neighbour of `fail/product_in_rectangles_that_leave_threads.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, ColumnTile2D, ColumnTiles2D, Micro, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel};

#[kernel]
fn product(
    block: Block<64>,
    left: ColumnTiles2D<f32, 32, 8, 4>,
    right: Tiles2D<f32, 8, 64>,
    mut out: TilesMut2D<f32, 32, 64, Micro<4, 8>>,
    mut shared: Shared<Stages<(ColumnTile2D<f32, 32, 8, 4>, Tile2D<f32, 8, 64>), 2>>,
) {
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..places.len() {
        let (row, column) = places.get(i);
        let result = results.get_mut(i);
        let mut sums = block.map(|_| [[0.0; 8]; 4]);
        let (lefts, rights) = (left.row_of_tiles(row), right.column_of_tiles(column));
        let pipeline = shared.pipeline(&block).for_each(
            lefts.len(),
            |stage, step| stage.copy((lefts.get(step), rights.get(step))),
            |tiles, _| {
                let (left, right) = tiles.tiles();
                block.update(&mut sums, |t, sums| result.add_product(&t, sums, left, right));
            },
        );
        shared = pipeline.finish();
        block.threads(|t| {
            let sums = sums.get(&t);
            result.set_own(&t, |nth| sums[nth / 8][nth % 8]);
        });
    }
}

fn main() {}
