//! The gradient of the weights: a sum over all rows, in two steps.

use tilepipe::{Arrangement, Block, Input, Input2D, Tiles2D, TilesMut, TilesMut2D, kernel};

use crate::{Fours, Ones};

/// Writes partial sums of the gradient of the weights: row `p` of the output is the sum over the
/// `p`th of as many equal parts of the rows as the output has rows.
///
/// A thread adds its elements from the first row to the last one. So the sums depend on the shapes
/// alone, not on the grid or the GPU.
#[kernel(
    instances(A = [Fours], PIECE = [4], THREADS = [128], LEN = [PIECE * THREADS]),
    instances(A = [Ones], PIECE = [1], THREADS = [128], LEN = [PIECE * THREADS])
)]
pub fn rms_norm_weights<A: Arrangement, const PIECE: usize, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles2D<f32, 1, PIECE>,
    gradient: Tiles2D<f32, 1, PIECE>,
    factors: Input<f32>,
    mut partial: TilesMut2D<f32, 1, LEN, A>,
) {
    let height = input.height();
    let rows_of_part = height.div_ceil(partial.height());
    let mut results = partial.for_block(&block);
    let places = results.places();
    for i in 0..results.len() {
        let (part, tile) = places.get(i);
        let first = part * rows_of_part;
        let end = height.min(first + rows_of_part);
        let sums = block.map(|t| {
            let nth = tile * THREADS + t.rank();
            let mut sums = [0.0_f32; PIECE];
            for row in first..end {
                let factor = factors.get(row).unwrap_or(0.0);
                let (values, _) = input.run::<PIECE>(row, nth);
                let (gradients, _) = gradient.run::<PIECE>(row, nth);
                sums = core::array::from_fn(|lane| sums[lane] + values[lane] * factor * gradients[lane]);
            }
            sums
        });
        let result = results.get_mut(i);
        block.threads(|t| {
            let sums = sums.get(&t);
            result.set_own(&t, |nth| sums[nth]);
        });
    }
}

/// Writes the sum of each column, from the first row to the last one.
#[kernel(instances(THREADS = [64]))]
pub fn sum_rows<const THREADS: usize>(block: Block<THREADS>, rows: Input2D<f32>, mut out: TilesMut<f32, THREADS>) {
    let height = rows.height();
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = THREADS * results.number(i);
        let result = results.get_mut(i);
        block.threads(|t| {
            let column = first + t.rank();
            let sum = (0..height).fold(0.0, |sum, row| sum + rows.get(row, column).unwrap_or(0.0));
            result.set(&t, sum);
        });
    }
}
