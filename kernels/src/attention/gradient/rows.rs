//! What the gradient needs of the rows of queries.

use core::f32::consts::LOG2_E;

use tilepipe::product::SumElement;
use tilepipe::{Block, Input2D, PerLane, Tiles2D, TilesMut2D, Warp, bf16, f16, kernel, math};

use super::super::LEAST;

/// Writes what the gradient needs of each query, a row for each head of each sequence: above the
/// logarithms of [`forward_with_logarithms`](crate::attention::forward_with_logarithms), of the
/// base 2, and below, for the same heads, the products of the rows of result and gradient.
///
/// Threads of a warp read a query's head side by side, 16 of them, and add their sums up in pairs.
#[kernel(instances(T = [bf16, f16]))]
pub fn attention_row_products<T: SumElement>(
    block: Block<128>,
    result: Tiles2D<T, 1, PIECE>,
    gradient: Tiles2D<T, 1, PIECE>,
    logarithms: Input2D<f32>,
    head: u32,
    mut out: TilesMut2D<f32, 1, 128>,
) {
    block.launch_dependents();
    let (queries, matrices) = (logarithms.width(), logarithms.height());
    let pieces = head as usize / PIECE;
    let heads = (result.width() / (head as usize).max(1)).max(1);
    let mut results = out.for_block(&block);
    let places = results.places();
    for index in 0..results.len() {
        let (matrix, across) = places.get(index);
        let tile = results.get_mut(index);
        if matrix < matrices {
            // A query that sees no key has minus infinity.
            block.threads(|t| {
                if let Some(logarithm) = logarithms.get(matrix, 128 * across + t.rank()) {
                    tile.set(&t, math::max(logarithm * LOG2_E, LEAST));
                }
            });
            continue;
        }
        let (first_row, first_piece) = ((matrix - matrices) / heads * queries, (matrix - matrices) % heads * pieces);
        block.warps(|warp| {
            let mut own = warp.map(|_| 0.0);
            for nth in 0..READERS {
                let mut sum = warp.map(|lane| {
                    let query = 128 * across + lane.thread().rank() / READERS * READERS + nth;
                    let (mut sum, mut piece) = (0.0, lane.rank() % READERS);
                    while query < queries && piece < pieces {
                        let (row, at) = (first_row + query, first_piece + piece);
                        let ((x, _), (y, _)) = (result.run::<PIECE>(row, at), gradient.run::<PIECE>(row, at));
                        for at in 0..PIECE {
                            sum = math::fma(x[at].widened(), y[at].widened(), sum);
                        }
                        piece += READERS;
                    }
                    sum
                });
                sum = with_partner::<1>(&warp, &sum);
                sum = with_partner::<2>(&warp, &sum);
                sum = with_partner::<4>(&warp, &sum);
                sum = with_partner::<8>(&warp, &sum);
                warp.update(&mut own, |lane, own| {
                    if lane.rank() % READERS == nth {
                        *own = sum.get(&lane);
                    }
                });
            }
            warp.lanes(|lane| {
                if 128 * across + lane.thread().rank() < queries {
                    tile.set(lane.thread(), own.get(&lane));
                }
            });
        });
    }
}

/// Elements that a thread reads at once.
const PIECE: usize = 8;

/// Threads that read a query's head side by side, 128 elements of it at once.
const READERS: usize = 16;

/// Each lane's number and that of the lane whose rank differs in the bit `MASK`.
#[inline(always)]
fn with_partner<'w, const MASK: usize>(warp: &Warp<'w, '_, 128>, numbers: &PerLane<'w, f32>) -> PerLane<'w, f32> {
    let others = warp.swap::<MASK, _>(numbers);
    warp.map(|lane| numbers.get(&lane) + others.get(&lane))
}
