//! The moving average.

use tilepipe::{Block, Blocked, F32x4, HaloTile, Halos, I32x4, Shared, Stages, TilesMut, kernel};

use crate::compute::Number;

/// The neighbours on either side that enter an average.
pub const RADIUS: usize = 8;

/// Writes to each element the mean of the `2 * RADIUS + 1` elements around it; beyond the ends of
/// the signal there are zeros. The sum runs from left to right.
#[kernel(instances(
    T = [i32, u32, f32, f64, I32x4, F32x4],
    THREADS = [128, 256, 512, 1024],
    STAGES = [1, 2, 3, 4, 5, 6, 7, 8],
))]
pub fn moving_average<T: Number, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    signal: Halos<T, THREADS, RADIUS>,
    mut out: TilesMut<T, THREADS>,
    shared: Shared<Stages<HaloTile<T, THREADS, RADIUS>, STAGES>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, i| stage.copy(tiles.get(i)),
        |tile, i| {
            let dst = results.get_mut(i);
            block.threads(|t| {
                let mut sum = T::ZERO;
                for value in tile.window(t.rank()) {
                    sum = sum.plus(*value);
                }
                dst.set(&t, sum.mean_of(2 * RADIUS as u16 + 1));
            });
        },
    );
}

/// [`moving_average`](fn@crate::moving_average) with `LEN / THREADS` elements a thread, in a row:
/// their windows overlap, so that a thread loads each element of them once.
#[kernel(instances(T = [i32, f32], THREADS = [128, 256], LEN = [4 * THREADS], STAGES = [1, 2, 4]))]
pub fn moving_average_wide<T: Number, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    signal: Halos<T, LEN, RADIUS>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<HaloTile<T, LEN, RADIUS>, STAGES>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| mean_around(tile, element)));
    });
}

/// The mean of the elements around one of a tile's, summed from left to right.
#[inline(always)]
pub(crate) fn mean_around<T: Number, const LEN: usize>(tile: &HaloTile<T, LEN, RADIUS>, element: usize) -> T {
    let sum = tile.window(element).iter().fold(T::ZERO, |sum, value| sum.plus(*value));
    sum.mean_of(2 * RADIUS as u16 + 1)
}
