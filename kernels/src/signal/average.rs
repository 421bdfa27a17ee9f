//! The moving average.

use core::array::from_fn;
use core::ops::Range;

use tilepipe::{Block, Blocked, F32x4, HaloTile, Halos, I32x4, Shared, Stages, Tiles, TilesMut, hoist_bounds, kernel};

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

/// [`moving_average`](fn@crate::moving_average) without stages: each thread has eight elements in a
/// row, and reads them and eight on either side where they lie; most of those the L1 cache has. The
/// tiles of the signal say how it is aligned.
#[kernel(instances(T = [i32, f32], THREADS = [128], LEN = [8 * THREADS]))]
pub fn moving_average_reads<T: Number, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    signal: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
) {
    let is_small = out.len() <= u32::MAX as usize;
    hoist_bounds(out.for_block(&block), |mut results| {
        for i in 0..results.len() {
            let first = results.number(i) * THREADS;
            let dst = results.get_mut(i);
            block.threads(|t| {
                // The first run of four that it reads: before the first element this wraps.
                let own = 2 * (first + t.rank());
                let run = own.wrapping_sub(2);
                // One check for all reads, which then are under way together.
                // Of numbers of 32 bits the compiler sees that the sums don't wrap.
                let near = run as u32 as usize;
                let is_inside = is_small && 2 <= own && near + 5 < signal.len() / 4;
                let means = if is_inside { means_of_runs(&signal, near) } else { means_of_runs(&signal, run) };
                dst.set_own(&t, |nth| means[nth]);
            });
        }
    });
}

/// The means of the elements around the third and the fourth of six runs of four, of which the
/// first one is `run`. Beyond the ends there are zeros.
#[inline(always)]
fn means_of_runs<T: Number, const LEN: usize>(signal: &Tiles<'_, T, LEN>, run: usize) -> [T; RADIUS] {
    let runs: [[T; 4]; 6] = from_fn(|nth| signal.run::<4>(run.wrapping_add(nth)).0);
    let sum = |places: Range<usize>| places.fold(T::ZERO, |sum, place| sum.plus(runs[place / 4][place % 4]));
    let sums: [T; RADIUS] = if T::IN_ANY_ORDER {
        // What all windows share, with what they have before it and behind it.
        let shared = sum(RADIUS - 1..2 * RADIUS + 1);
        from_fn(|nth| sum(nth..RADIUS - 1).plus(shared).plus(sum(2 * RADIUS + 1..2 * RADIUS + 1 + nth)))
    } else {
        from_fn(|nth| sum(nth..nth + 2 * RADIUS + 1))
    };
    sums.map(|sum| sum.mean_of(2 * RADIUS as u16 + 1))
}

/// The mean of the elements around one of a tile's, summed from left to right.
#[inline(always)]
pub(crate) fn mean_around<T: Number, const LEN: usize>(tile: &HaloTile<T, LEN, RADIUS>, element: usize) -> T {
    let sum = tile.window(element).iter().fold(T::ZERO, |sum, value| sum.plus(*value));
    sum.mean_of(2 * RADIUS as u16 + 1)
}
