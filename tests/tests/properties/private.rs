//! Pipelines of each thread's and each warp's own, every one at its own pace.

use proptest::prelude::*;
use tilepipe::{
    Block, CpAsync, Engine, LoadStore, Replicated, Shared, Stages, ThreadScope, Tiles, TilesMut, WarpScope, kernel,
};

use crate::launches::{at, bind, case, elements, gives, number};

/// Folds values so that their order shows.
fn mix(sum: u32, value: u32) -> u32 {
    sum.wrapping_mul(31).wrapping_add(value)
}

/// Every thread folds its first piece, and then as many more as that says: of `THREADS` pieces in a
/// row thread `r` takes number `r`. Between the two passes the memory goes back to the block.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 48], LEN = [1, 3, 4], STAGES = [1, 2, 3]))]
pub fn at_its_own_pace<E: Engine, const THREADS: usize, const LEN: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, LEN>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Replicated<Stages<[u32; LEN], STAGES, E, ThreadScope>, THREADS>>,
) {
    let (first, step) = (block.index() * THREADS, block.grid() * THREADS);
    let pieces = |rank: usize| input.tiles().saturating_sub(first + rank).div_ceil(step);
    let fold = |sum: u32, piece: &[u32; LEN]| piece.iter().fold(sum, |sum, value| mix(sum, *value));
    let (firsts, retired) = shared.threads(&block, |t, pipe| {
        let mut sum = 1;
        let _ = pipe.for_each(
            pieces(t.rank()).min(1),
            |stage, _| stage.copy(input.tile(first + t.rank())),
            |piece, _| sum = fold(sum, piece),
        );
        sum
    });
    let (sums, _) = retired.reclaim(&block).threads(&block, |t, pipe| {
        let mut sum = firsts.get(&t);
        let trips = (sum as usize % 7).min(pieces(t.rank()));
        let _ = pipe.for_each(
            trips,
            |stage, index| stage.copy(input.tile(first + t.rank() + index * step)),
            |piece, _| sum = fold(sum, piece),
        );
        sum
    });
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set(&t, sums.get(&t)));
}

/// Every warp folds as many of its tiles as its first one says, by hand and with two of them ahead;
/// lane `l` reads what lane `31 - l` copied. Of `W` tiles in a row warp `w` takes number `w`.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 128], LEN = [32, 64]))]
pub fn warps_by_hand<E: Engine, const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<u32, LEN>,
    mut out: TilesMut<u32, THREADS>,
    shared: Shared<Replicated<Stages<[u32; LEN], 3, E, WarpScope>, THREADS>>,
) {
    let (index, grid) = (block.index(), block.grid());
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let (sums, _) = shared.warps(&block, |warp, pipe| {
        let (first, step) = (index * warp.count() + warp.rank(), grid * warp.count());
        let own = input.tiles().saturating_sub(first).div_ceil(step);
        let mut sums = warp.map(|lane| lane.rank() as u32);
        if own == 0 {
            warp.lanes(|lane| dst.set(lane.thread(), sums.get(&lane)));
            return 0;
        }
        let at = |round: usize| input.tile(first + round.min(own - 1) * step);
        let pipe = pipe.acquire().copy(at(0)).commit();
        let mut pipe = pipe.acquire().copy(at(1)).commit().weaken();
        let (mut round, mut trips) = (0, own);
        while round < trips {
            let (p, tile) = pipe.wait();
            if round == 0 {
                // The same in all lanes, so warp-level code may branch on it.
                trips = (tile[0] as usize % 9).clamp(1, own);
            }
            let p = p.acquire().copy(at(round + 2)).commit();
            warp.update(&mut sums, |lane, sum| *sum = mix(*sum, tile[LEN - 1 - lane.rank()]));
            pipe = p.release(tile);
            round += 1;
        }
        warp.lanes(|lane| dst.set(lane.thread(), sums.get(&lane)));
        trips as u32
    });
    let _ = block.reduce(&sums, u32::wrapping_add);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_thread_takes_as_many_rounds_as_its_own_data_says(case in case()) {
        let instance = case.instance(&at_its_own_pace::INSTANCES);
        let (threads, len) = (number(instance, "THREADS"), number(instance, "LEN"));
        let input = elements::<u32>(case.len(len * threads), case.seed);
        let (grid, tiles) = (case.grid as usize, input.len().div_ceil(len));
        let expected: Vec<u32> = (0..grid * threads)
            .map(|thread| {
                let own: Vec<usize> = (thread..tiles).step_by(grid * threads).collect();
                let fold = |sum, piece: &usize| (0..len).fold(sum, |sum, nth| mix(sum, at(&input, piece * len + nth)));
                let first = own.iter().take(1).fold(1, fold);
                own.iter().take(first as usize % 7).fold(first, fold)
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn every_warp_takes_as_many_rounds_as_its_own_data_says(case in case()) {
        let instance = case.instance(&warps_by_hand::INSTANCES);
        let (threads, len) = (number(instance, "THREADS"), number(instance, "LEN"));
        let warps = threads / 32;
        let input = elements::<u32>(case.len(len * warps), case.seed);
        let (grid, tiles) = (case.grid as usize, input.len().div_ceil(len));
        let expected: Vec<u32> = (0..grid * threads)
            .map(|thread| {
                let (warp, lane) = (thread / 32, thread % 32);
                let own: Vec<usize> = (warp..tiles).step_by(grid * warps).collect();
                let trips = own.first().map_or(0, |tile| (at(&input, tile * len) as usize % 9).max(1));
                own.iter().take(trips).fold(lane as u32, |sum, tile| mix(sum, at(&input, tile * len + len - 1 - lane)))
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }
}
