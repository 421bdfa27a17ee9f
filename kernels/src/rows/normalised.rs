//! The softmax of each row of a matrix.

use tilepipe::{Block, Runs, Thread, Tiles2D, TilesMut2D, WholeRows, kernel, math};

/// Elements that a thread reads and writes at once.
const PIECE: usize = 4;

/// `exp(x - max) / sum` for each element of a row, where `max` is the row's largest element and
/// `sum` that of all `exp(x - max)` of the row.
///
/// A row of up to `LEN` elements is read once: a thread keeps its `PIECES` pieces of four elements
/// in registers. A wider row is read twice. There are a maximum and a sum over the block a row,
/// with two barriers each.
///
/// A row with a NaN or `+inf`, or of `-inf` alone, becomes NaN, as in PyTorch.
#[kernel(
    instances(THREADS = [64, 128, 256, 512], PIECES = [4], LEN = [4 * PIECES * THREADS]),
    instances(THREADS = [128, 256, 512], PIECES = [2], LEN = [4 * PIECES * THREADS]),
    min_blocks = 1024 / THREADS
)]
pub fn softmax<const THREADS: usize, const PIECES: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles2D<f32, 1, LEN>,
    mut out: TilesMut2D<f32, 1, LEN, Runs<PIECE>, WholeRows>,
) {
    // The calling thread's piece of a tile of a row. What lies beyond the row's end counts for
    // nothing.
    let piece = |t: &Thread<'_, '_, THREADS>, row: usize, tile: usize, nth: usize| {
        let (values, valid) = input.run::<PIECE>(row, tile * (LEN / PIECE) + nth * THREADS + t.rank());
        core::array::from_fn::<f32, PIECE, _>(|lane| if lane < valid { values[lane] } else { f32::NEG_INFINITY })
    };
    let mut rows = out.for_block(&block);
    for i in 0..rows.len() {
        let row = rows.number(i);
        let mut results = rows.row_mut(i);
        if results.len() == 1 {
            let values = block.map(|t| core::array::from_fn::<_, PIECES, _>(|nth| piece(&t, row, 0, nth)));
            let largest =
                block.map(|t| values.get(&t).as_flattened().iter().copied().fold(f32::NEG_INFINITY, math::max));
            let largest = block.reduce(&largest, math::max);
            let powers = block.map(|t| values.get(&t).map(|piece| piece.map(|value| math::exp_fast(value - largest))));
            let sum = block.reduce(&block.map(|t| powers.get(&t).as_flattened().iter().sum::<f32>()), |a, b| a + b);
            let factor = 1.0 / sum;
            let result = results.get_mut(0);
            block.threads(|t| {
                let powers = powers.get(&t);
                result.set_own(&t, |nth| powers[nth / PIECE][nth % PIECE] * factor);
            });
        } else {
            // Of each thread its largest element so far, and the sum of its powers relative to it.
            let mut sums = block.map(|_| [f32::NEG_INFINITY, 0.0]);
            for tile in 0..results.len() {
                block.update(&mut sums, |t, [largest, sum]| {
                    for nth in 0..PIECES {
                        let values = piece(&t, row, tile, nth);
                        let new = values.into_iter().fold(*largest, math::max);
                        let powers = values.map(|value| power(value, new));
                        *sum = *sum * power(*largest, new) + powers.iter().sum::<f32>();
                        *largest = new;
                    }
                });
            }
            let largest = block.reduce(&block.map(|t| sums.get(&t)[0]), math::max);
            let of_thread = block.map(|t| {
                let [of_thread, sum] = sums.get(&t);
                sum * power(of_thread, largest)
            });
            let factor = 1.0 / block.reduce(&of_thread, |a, b| a + b);
            for tile in 0..results.len() {
                let result = results.get_mut(tile);
                block.threads(|t| {
                    let values = core::array::from_fn::<_, PIECES, _>(|nth| piece(&t, row, tile, nth));
                    let powers = values.map(|piece| piece.map(|value| math::exp_fast(value - largest)));
                    result.set_own(&t, |nth| powers[nth / PIECE][nth % PIECE] * factor);
                });
            }
        }
    }
}

/// `exp(x - largest)`, and 0 where both are `-inf`.
fn power(x: f32, largest: f32) -> f32 {
    math::exp_fast(x - if largest == f32::NEG_INFINITY { 0.0 } else { largest })
}
