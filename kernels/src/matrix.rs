//! Matrix products whose sums lie in registers.

use tilepipe::{
    Block, ColumnTile2D, ColumnTiles2D, Micro, RunningProduct, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel,
};

/// Rows and columns of a thread's rectangle.
const DOWN: usize = 16;
const ACROSS: usize = 8;

/// Elements behind each column of the left matrix's tiles: neighbouring threads copy to different
/// banks.
const PAD: usize = 4;

/// What a stage holds: `K` columns of `ROWS` rows of the left matrix, and `K` rows of `COLUMNS`
/// columns of the right one.
type Steps<const ROWS: usize, const COLUMNS: usize, const K: usize> =
    (ColumnTile2D<f32, ROWS, K, PAD>, Tile2D<f32, K, COLUMNS>);

/// A matrix product in `f32`: `out[r][c]` is `alpha` times the sum of `left[r][k] * right[k][c]`,
/// in order of `k`, each product added with one rounding.
///
/// A block has a tile of `ROWS` by `COLUMNS` of the output at a time, and each thread 16 by 8
/// elements of it. The matrices have any size; `right` has as many rows as `left` has columns.
#[kernel(
    instances(THREADS = [128], ROWS = [128], COLUMNS = [128], K = [8], STAGES = [2, 3]),
    min_blocks = 256 / THREADS
)]
pub fn sgemm<const THREADS: usize, const ROWS: usize, const COLUMNS: usize, const K: usize, const STAGES: usize>(
    block: Block<THREADS>,
    left: ColumnTiles2D<f32, ROWS, K, PAD>,
    right: Tiles2D<f32, K, COLUMNS>,
    alpha: f32,
    mut out: TilesMut2D<f32, ROWS, COLUMNS, Micro<DOWN, ACROSS>>,
    mut shared: Shared<Stages<Steps<ROWS, COLUMNS, K>, STAGES>>,
) {
    let mut results = out.for_block(&block);
    let places = results.places();
    for i in 0..places.len() {
        let (row, column) = places.get(i);
        let result = results.get_mut(i);
        let mut product = block.map(|_| RunningProduct::zero());
        let (lefts, rights) = (left.row_of_tiles(row), right.column_of_tiles(column));
        let pipeline = shared.pipeline(&block).for_each(
            lefts.len(),
            |stage, step| stage.copy((lefts.get(step), rights.get(step))),
            |tiles, _| {
                let (left, right) = tiles.tiles();
                block.update(&mut product, |t, product| result.continue_product(&t, product, left, right));
            },
        );
        shared = pipeline.finish();
        block.threads(|t| {
            let sums = product.get(&t).sums();
            result.set_own(&t, |nth| alpha * sums[nth / ACROSS][nth % ACROSS]);
        });
    }
}
