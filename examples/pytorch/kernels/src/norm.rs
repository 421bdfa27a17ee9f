//! What is computed for each row by itself: its norm, and the gradient of its elements.

use tilepipe::{Arrangement, Block, Thread, Tiles, Tiles2D, TilesMut, TilesMut2D, WholeRows, kernel, math};

use crate::{Fours, Ones};

/// Writes the norm of each row.
///
/// A row of up to `LEN` elements is read once: a thread keeps its `PIECES` pieces of `PIECE`
/// elements in registers. A wider row is read twice. There is one sum over the block for each row.
#[kernel(
    instances(A = [Fours], PIECE = [4], (THREADS, PIECES) = [(128, 2), (256, 4)], LEN = [PIECE * PIECES * THREADS]),
    instances(A = [Ones], PIECE = [1], (THREADS, PIECES) = [(128, 8), (256, 8)], LEN = [PIECE * PIECES * THREADS])
)]
pub fn rms_norm<A: Arrangement, const PIECE: usize, const THREADS: usize, const PIECES: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles2D<f32, 1, PIECE>,
    weights: Tiles<f32, PIECE>,
    mut out: TilesMut2D<f32, 1, LEN, A, WholeRows>,
    eps: f32,
) {
    let of_weights = |t: &Thread<'_, '_, THREADS>, tile: usize| -> [[f32; PIECE]; PIECES] {
        core::array::from_fn(|nth| weights.run(piece::<THREADS, PIECES>(t, tile, nth)).0)
    };
    let width = input.width() as f32;
    let mut rows = out.for_block(&block);
    for i in 0..rows.len() {
        let row = rows.number(i);
        let mut results = rows.row_mut(i);
        // The last tile that was read: the only one of a row that fits.
        let mut values = block.map(|_| [[0.0; PIECE]; PIECES]);
        let mut squares = block.map(|_| 0.0);
        for tile in 0..results.len() {
            values = block.map(|t| pieces(&input, &t, row, tile));
            block.update(&mut squares, |t, sum| *sum = add_products(*sum, &values.get(&t), &values.get(&t)));
        }
        let factor = math::rsqrt(block.reduce(&squares, |a, b| a + b) / width + eps);
        let fits = results.len() == 1;
        for tile in 0..results.len() {
            if !fits {
                values = block.map(|t| pieces(&input, &t, row, tile));
            }
            let result = results.get_mut(tile);
            block.threads(|t| {
                let (values, weights) = (values.get(&t), of_weights(&t, tile));
                result.set_own(&t, |nth| values[nth / PIECE][nth % PIECE] * factor * weights[nth / PIECE][nth % PIECE]);
            });
        }
    }
}

/// Writes the gradient of each row's elements, and the factor `r` of each row, which the gradient
/// of the weights needs.
///
/// Rows are read as by [`rms_norm`]; there is one sum over the block, of pairs, for each row. The
/// factors have as many elements as there are rows.
#[kernel(
    instances(A = [Fours], PIECE = [4], (THREADS, PIECES) = [(128, 2), (256, 4)], LEN = [PIECE * PIECES * THREADS]),
    instances(A = [Ones], PIECE = [1], (THREADS, PIECES) = [(128, 8), (256, 8)], LEN = [PIECE * PIECES * THREADS])
)]
pub fn rms_norm_backward<
    A: Arrangement,
    const PIECE: usize,
    const THREADS: usize,
    const PIECES: usize,
    const LEN: usize,
>(
    block: Block<THREADS>,
    input: Tiles2D<f32, 1, PIECE>,
    weights: Tiles<f32, PIECE>,
    gradient: Tiles2D<f32, 1, PIECE>,
    mut out: TilesMut2D<f32, 1, LEN, A, WholeRows>,
    mut factors: TilesMut<f32, 1>,
    eps: f32,
) {
    // The gradient of the elements before they were multiplied by the factor.
    let scaled = |t: &Thread<'_, '_, THREADS>, row: usize, tile: usize| -> [[f32; PIECE]; PIECES] {
        let mut scaled: [[f32; PIECE]; PIECES] = pieces(&gradient, t, row, tile);
        for (nth, values) in scaled.iter_mut().enumerate() {
            let weights: [f32; PIECE] = weights.run(piece::<THREADS, PIECES>(t, tile, nth)).0;
            values.iter_mut().zip(weights).for_each(|(value, weight)| *value *= weight);
        }
        scaled
    };
    let width = input.width() as f32;
    let (mut rows, mut of_rows) = (out.for_block(&block), factors.for_block(&block));
    for i in 0..rows.len() {
        let row = rows.number(i);
        let mut results = rows.row_mut(i);
        // The last tile that was read: the only one of a row that fits.
        let mut values = block.map(|_| [[0.0; PIECE]; PIECES]);
        let mut gradients = block.map(|_| [[0.0; PIECE]; PIECES]);
        let mut sums = block.map(|_| [0.0; 2]);
        for tile in 0..results.len() {
            values = block.map(|t| pieces(&input, &t, row, tile));
            gradients = block.map(|t| scaled(&t, row, tile));
            block.update(&mut sums, |t, [squares, products]| {
                let (values, gradients) = (values.get(&t), gradients.get(&t));
                *squares = add_products(*squares, &values, &values);
                *products = add_products(*products, &values, &gradients);
            });
        }
        let [squares, products] = block.reduce(&sums, |[a, b], [c, d]| [a + c, b + d]);
        let factor = math::rsqrt(squares / width + eps);
        let along = factor * factor * (products / width);
        let of_row = of_rows.get_mut(i);
        block.threads(|t| of_row.set_each(&t, |_| factor));
        let fits = results.len() == 1;
        for tile in 0..results.len() {
            if !fits {
                values = block.map(|t| pieces(&input, &t, row, tile));
                gradients = block.map(|t| scaled(&t, row, tile));
            }
            let result = results.get_mut(tile);
            block.threads(|t| {
                let (values, gradients) = (values.get(&t), gradients.get(&t));
                result.set_own(&t, |nth| {
                    factor * (gradients[nth / PIECE][nth % PIECE] - values[nth / PIECE][nth % PIECE] * along)
                });
            });
        }
    }
}

/// Which piece of a row is a thread's `nth` of a tile.
#[inline(always)]
fn piece<const THREADS: usize, const PIECES: usize>(t: &Thread<'_, '_, THREADS>, tile: usize, nth: usize) -> usize {
    tile * (PIECES * THREADS) + nth * THREADS + t.rank()
}

/// The pieces of a tile of a row that are a thread's; zeros past the row's end.
#[inline(always)]
fn pieces<const THREADS: usize, const PIECES: usize, const PIECE: usize>(
    of: &Tiles2D<'_, f32, 1, PIECE>,
    t: &Thread<'_, '_, THREADS>,
    row: usize,
    tile: usize,
) -> [[f32; PIECE]; PIECES] {
    core::array::from_fn(|nth| of.run(row, piece::<THREADS, PIECES>(t, tile, nth)).0)
}

/// Adds the products of each two elements.
#[inline(always)]
fn add_products<const PIECE: usize, const PIECES: usize>(
    sum: f32,
    left: &[[f32; PIECE]; PIECES],
    right: &[[f32; PIECE]; PIECES],
) -> f32 {
    let pairs = left.as_flattened().iter().zip(right.as_flattened());
    pairs.fold(sum, |sum, (left, right)| sum + left * right)
}
