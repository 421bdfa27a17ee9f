//! Each row of a matrix over the root of its mean square.

use tilepipe::{Block, Runs, Thread, Tiles, Tiles2D, TilesMut2D, WholeRows, kernel, math};

/// Elements that a thread reads and writes at once.
const PIECE: usize = 4;
/// What is added to the mean square, so that a row of zeros has a root.
pub const RMS_NORM_EPSILON: f32 = 1e-6;

/// `x / sqrt(mean(x * x) + `[`RMS_NORM_EPSILON`]`) * weight` for each element of a row, where each
/// column has a weight, and one without is zero.
///
/// A row of up to `LEN` elements is read once: a thread keeps its `PIECES` pieces of four elements
/// in registers. A wider row is read twice. There is a sum over the block a row, with two barriers.
/// The weights, which all rows share, come from the caches. A thread has 64 registers for two
/// pieces, and 80 for four.
#[kernel(
    instances(THREADS = [64, 256], PIECES = [4], LEN = [4 * PIECES * THREADS]),
    instances(THREADS = [128, 256, 512], PIECES = [2], LEN = [4 * PIECES * THREADS]),
    min_blocks = (1280 - 128 * PIECES) / THREADS
)]
pub fn rms_norm<const THREADS: usize, const PIECES: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles2D<f32, 1, LEN>,
    weights: Tiles<f32, LEN>,
    mut out: TilesMut2D<f32, 1, LEN, Runs<PIECE>, WholeRows>,
) {
    let number = |t: &Thread<'_, '_, THREADS>, tile: usize, nth: usize| tile * (LEN / PIECE) + nth * THREADS + t.rank();
    let of_row = |t: &Thread<'_, '_, THREADS>, row: usize, tile: usize| -> [[f32; PIECE]; PIECES] {
        core::array::from_fn(|nth| input.run(row, number(t, tile, nth)).0)
    };
    let of_weights = |t: &Thread<'_, '_, THREADS>, tile: usize| -> [[f32; PIECE]; PIECES] {
        core::array::from_fn(|nth| weights.run(number(t, tile, nth)).0)
    };
    let add_squares = |sum: f32, values: &[[f32; PIECE]; PIECES]| {
        values.as_flattened().iter().fold(sum, |sum, value| sum + value * value)
    };
    let width = input.width() as f32;
    let mut rows = out.for_block(&block);
    for i in 0..rows.len() {
        let row = rows.number(i);
        let mut results = rows.row_mut(i);
        if results.len() == 1 {
            let values = block.map(|t| of_row(&t, row, 0));
            let sum = block.reduce(&block.map(|t| add_squares(0.0, &values.get(&t))), |a, b| a + b);
            let factor = math::rsqrt(sum / width + RMS_NORM_EPSILON);
            let result = results.get_mut(0);
            block.threads(|t| {
                let (values, weights) = (values.get(&t), of_weights(&t, 0));
                result.set_own(&t, |nth| values[nth / PIECE][nth % PIECE] * factor * weights[nth / PIECE][nth % PIECE]);
            });
        } else {
            let mut sums = block.map(|_| 0.0);
            for tile in 0..results.len() {
                block.update(&mut sums, |t, sum| *sum = add_squares(*sum, &of_row(&t, row, tile)));
            }
            let sum = block.reduce(&sums, |a, b| a + b);
            let factor = math::rsqrt(sum / width + RMS_NORM_EPSILON);
            for tile in 0..results.len() {
                let result = results.get_mut(tile);
                block.threads(|t| {
                    let (values, weights) = (of_row(&t, row, tile), of_weights(&t, tile));
                    result.set_own(&t, |nth| {
                        values[nth / PIECE][nth % PIECE] * factor * weights[nth / PIECE][nth % PIECE]
                    });
                });
            }
        }
    }
}
