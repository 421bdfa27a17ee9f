//! The moving average.

use core::array::from_fn;

use tilepipe::{Block, Blocked, F32x4, HaloTile, Halos, I32x4, Shared, Stages, Tiles, TilesMut, kernel};

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

/// [`moving_average`](fn@crate::moving_average) without stages: each lane of a warp reads a run of
/// as many elements as enter its averages on one side, and has those on either side from the lanes
/// next to it. The tiles of the signal say how it is aligned; `LEN` is eight times the number of
/// threads.
#[kernel(instances(T = [i32, f32], THREADS = [128], LEN = [8 * THREADS]))]
pub fn moving_average_reads<T: Number, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    signal: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
) {
    let mut results = out.for_block(&block);
    for i in 0..results.len() {
        let first = results.number(i) * THREADS;
        let dst = results.get_mut(i);
        block.warps(|warp| {
            // Beyond the ends there are zeros; the number of the run before the first one wraps.
            let run = |nth: usize| [0, 1].map(|half| signal.run::<4>(nth.wrapping_mul(2).wrapping_add(half)).0);
            let own = [0, 1].map(|half| warp.map(|lane| run(first + lane.thread().rank())[half]));
            let left = own.each_ref().map(|half| warp.shift_up::<1, _>(half));
            let right = own.each_ref().map(|half| warp.shift_down::<1, _>(half));
            warp.lanes(|lane| {
                let nth = first + lane.thread().rank();
                let of_lane = [&left, &own, &right].map(|halves| [halves[0].get(&lane), halves[1].get(&lane)]);
                let [left, own, right] = of_lane;
                let [a, b] = if lane.rank() == 0 { run(nth.wrapping_sub(1)) } else { left };
                let [e, f] = if lane.rank() == 31 { run(nth + 1) } else { right };
                let around = [a, b, own[0], own[1], e, f];
                let means: [T; RADIUS] = from_fn(|nth| {
                    let window = (nth..=nth + 2 * RADIUS).map(|place| around[place / 4][place % 4]);
                    window.fold(T::ZERO, T::plus).mean_of(2 * RADIUS as u16 + 1)
                });
                dst.set_own(lane.thread(), |nth| means[nth]);
            });
        });
    }
}

/// The mean of the elements around one of a tile's, summed from left to right.
#[inline(always)]
pub(crate) fn mean_around<T: Number, const LEN: usize>(tile: &HaloTile<T, LEN, RADIUS>, element: usize) -> T {
    let sum = tile.window(element).iter().fold(T::ZERO, |sum, value| sum.plus(*value));
    sum.mean_of(2 * RADIUS as u16 + 1)
}
