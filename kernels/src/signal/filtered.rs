//! The convolution with a filter that the launch passes.

use tilepipe::{Block, Blocked, Constant, Engine, HaloTile, Halos, Shared, Stages, TilesMut, kernel};

use crate::compute::MultiplyAdd;

/// Writes to each element the sum of the `2 * RADIUS + 1` elements around it, each times its number
/// of the filter: `out[i]` is the sum of `filter[k] * signal[i + k - RADIUS]` over all `k`. Beyond
/// the ends of the signal there are zeros.
///
/// The sum runs from left to right, and each product is added with one rounding. A thread has four
/// elements in a row: their windows overlap, so that it loads each element of them once. The filter
/// is read where the launch's parameters are, and all threads read the same number of it at a time.
#[kernel(
    instances(
        T = [i32],
        THREADS = [128, 256],
        LEN = [4 * THREADS],
        RADIUS = [8],
        TAPS = [2 * RADIUS + 1],
        STAGES = [1, 2, 4]
    ),
    instances(
        T = [f32],
        THREADS = [128, 256],
        LEN = [4 * THREADS],
        RADIUS = [8, 16],
        TAPS = [2 * RADIUS + 1],
        STAGES = [1, 2, 4]
    ),
)]
pub fn convolution<
    T: MultiplyAdd,
    const THREADS: usize,
    const LEN: usize,
    const RADIUS: usize,
    const TAPS: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    signal: Halos<T, LEN, RADIUS>,
    filter: Constant<[T; TAPS]>,
    out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<HaloTile<T, LEN, RADIUS>, STAGES>>,
) {
    convolve(block, signal, filter, out, shared);
}

/// [`convolution`](fn@convolution) with any engine.
#[inline(always)]
pub(crate) fn convolve<
    T: MultiplyAdd,
    E: Engine,
    const THREADS: usize,
    const LEN: usize,
    const RADIUS: usize,
    const TAPS: usize,
    const STAGES: usize,
>(
    block: Block<'_, THREADS>,
    signal: Halos<'_, T, LEN, RADIUS>,
    filter: Constant<'_, [T; TAPS]>,
    mut out: TilesMut<'_, T, LEN, Blocked>,
    shared: Shared<'_, Stages<HaloTile<T, LEN, RADIUS>, STAGES, E>>,
) {
    const { assert!(TAPS == 2 * RADIUS + 1, "the filter has a number for each element of a window") };
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, result| {
        block.threads(|t| {
            result.set_each(&t, |element| {
                let around = tile.window(element).iter().zip(filter.iter());
                around.fold(T::ZERO, |sum, (value, weight)| value.times_plus(*weight, sum))
            });
        });
    });
}
