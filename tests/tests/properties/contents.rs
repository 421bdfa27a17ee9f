//! Stages that hold several tiles, zeros, or nothing.

use proptest::prelude::*;
use tilepipe::group::{InBlock, Synchronise};
use tilepipe::{
    Block, BlockScope, CpAsync, Engine, LoadStore, Optional, Scope, Shared, Stages, ThreadScope, Tiles, TilesMut,
    WarpScope, Zeros, kernel,
};

use crate::launches::{Two, at, bind, case, elements, gives, number};

/// Skips every third tile of a block, and fills every seventh with zeros: each tile backwards, -1
/// where there is none.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96], STAGES = [1, 2, 5, 32]))]
pub fn with_gaps<E: Engine, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<Optional<[i32; THREADS]>, STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| match index {
            _ if index % 3 == 1 => stage.copy(None::<Zeros>),
            _ if index % 7 == 3 => stage.copy(Some(Zeros)),
            _ => stage.copy(Some(tiles.get(index))),
        },
        |tile, index| {
            let dst = results.get_mut(index);
            match tile.get() {
                Some(tile) => block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()])),
                None => block.threads(|t| dst.set(&t, -1)),
            }
        },
    );
}

/// By hand, with two tiles ahead: past the last one the stages are committed empty.
#[kernel(instances(THREADS = [32, 96]))]
pub fn runs_dry<const THREADS: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<Optional<[i32; THREADS]>, 3>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let at = |index: usize| (index < tiles.len()).then(|| tiles.get(index));
    let pipe = shared.pipeline(&block).acquire().copy(at(0)).commit();
    let mut pipe = pipe.acquire().copy(at(1)).commit().weaken();
    // One round more than there are tiles, and in it nothing is written.
    for index in 0..=tiles.len() {
        let (p, tile) = pipe.wait();
        let p = p.acquire().copy(at(index + 2)).commit();
        if let Some(tile) = tile.get() {
            let dst = results.get_mut(index);
            block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()]));
        }
        pipe = p.release(tile);
    }
}

/// A tile beside zeros, and every other round the other way about: `left + 3 * right`, backwards.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96], STAGES = [1, 2, 4]))]
pub fn beside_zeros<E: Engine, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<Two<THREADS>, STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each(
        tiles.len(),
        |stage, index| {
            let tile = tiles.get(index);
            if index % 2 == 0 { stage.copy((tile, Zeros)) } else { stage.copy((Zeros, tile)) }
        },
        |tiles, index| {
            let (left, right) = tiles.tiles();
            let dst = results.get_mut(index);
            block.threads(|t| {
                let mirrored = THREADS - 1 - t.rank();
                dst.set(&t, left[mirrored].wrapping_add(right[mirrored].wrapping_mul(3)));
            });
        },
    );
}

/// The tiles of three views: 96, 32 and 64 elements.
type Three = ([u16; 96], [i64; 32], [u8; 64]);
/// The tiles of four views.
type Four = ([u8; 128], [[u32; 3]; 32], [u64; 32], [u16; 64]);

/// Three tiles of different types and lengths in one stage.
#[kernel(instances(E = [CpAsync, LoadStore], STAGES = [1, 2, 3]))]
pub fn three_tiles<E: Engine, const STAGES: usize>(
    block: Block<32>,
    shorts: Tiles<u16, 96>,
    longs: Tiles<i64, 32>,
    bytes: Tiles<u8, 64>,
    mut out: TilesMut<i64, 32>,
    shared: Shared<Stages<Three, STAGES, E>>,
) {
    let views = (shorts.for_block(&block), longs.for_block(&block), bytes.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each_tile((&views.0, &views.1, &views.2), |tiles, index| {
        let (shorts, longs, bytes) = tiles.tiles();
        let dst = results.get_mut(index);
        block.threads(|t| {
            let sum = longs[31 - t.rank()].wrapping_mul(5).wrapping_add(i64::from(shorts[95 - t.rank()]) << 8);
            dst.set(&t, sum.wrapping_add(i64::from(bytes[63 - 2 * t.rank()])));
        });
    });
}

/// Four tiles in one stage, of which each thread reads its own elements.
#[kernel(instances(E = [CpAsync, LoadStore], S = [ThreadScope, WarpScope, BlockScope], STAGES = [1, 2, 3]))]
pub fn four_tiles<E: Engine, S: Scope, const STAGES: usize>(
    block: Block<32>,
    bytes: Tiles<u8, 128>,
    triples: Tiles<[u32; 3], 32>,
    longs: Tiles<u64, 32>,
    shorts: Tiles<u16, 64>,
    mut out: TilesMut<u64, 32>,
    shared: Shared<Stages<Four, STAGES, E, S>>,
) where
    for<'b> InBlock<'b, 32>: Synchronise<S>,
{
    let (bytes, triples) = (bytes.for_block(&block), triples.for_block(&block));
    let (longs, shorts) = (longs.for_block(&block), shorts.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&bytes, &triples, &longs, &shorts), &mut results, |tiles, dst| {
        block.threads(|t| {
            let (bytes, triples, longs, shorts) = tiles.own(&t);
            let sum = longs[0].wrapping_mul(7).wrapping_add(u64::from(triples[0][2]) << 20);
            dst.set(&t, sum.wrapping_add(u64::from(shorts[1]) << 8).wrapping_add(u64::from(bytes[3])));
        });
    });
}

/// Each tile backwards, but for those of which `value` says what is written instead. Tile
/// `i * grid + b` is the `i`-th of block `b`.
fn backwards_but(input: &[i32], tile: usize, grid: u32, value: impl Fn(usize, i32) -> i32) -> Vec<i32> {
    let mirrored = |index: usize| at(input, index / tile * tile + (tile - 1 - index % tile));
    (0..input.len()).map(|index| value(index / tile / grid as usize, mirrored(index))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stage_committed_empty_shows_nothing_and_zeros_are_zeros(case in case()) {
        let instance = case.instance(&with_gaps::INSTANCES);
        let tile = number(instance, "THREADS");
        let input = elements::<i32>(case.len(tile), case.seed);
        let expected = backwards_but(&input, tile, case.grid, |round, value| match round {
            _ if round % 3 == 1 => -1,
            _ if round % 7 == 3 => 0,
            _ => value,
        });
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn past_the_last_tile_stages_are_committed_empty(case in case()) {
        let instance = case.instance(&runs_dry::INSTANCES);
        let tile = number(instance, "THREADS");
        let input = elements::<i32>(case.len(tile), case.seed);
        gives(instance, case, &backwards_but(&input, tile, case.grid, |_, value| value), |device| {
            vec![bind(device, &input)]
        });
    }

    #[test]
    fn zeros_beside_a_tile_leave_nothing_of_the_tile_before(case in case()) {
        let instance = case.instance(&beside_zeros::INSTANCES);
        let tile = number(instance, "THREADS");
        let input = elements::<i32>(case.len(tile), case.seed);
        let expected = backwards_but(&input, tile, case.grid, |round, value| {
            if round % 2 == 0 { value } else { value.wrapping_mul(3) }
        });
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn three_tiles_of_different_types_land_together(case in case(), less in 0..64_usize) {
        let instance = case.instance(&three_tiles::INSTANCES);
        let len = case.len(32);
        let longs = elements::<i64>(len, case.seed);
        let shorts = elements::<u16>((len.div_ceil(32) * 96).saturating_sub(less).max(1), !case.seed);
        let bytes = elements::<u8>((len.div_ceil(32) * 64).saturating_sub(less % 64).max(1), case.seed ^ 1);
        let expected: Vec<i64> = (0..len)
            .map(|index| {
                let (tile, rank) = (index / 32, index % 32);
                let sum = at(&longs, tile * 32 + 31 - rank).wrapping_mul(5);
                let sum = sum.wrapping_add(i64::from(at(&shorts, tile * 96 + 95 - rank)) << 8);
                sum.wrapping_add(i64::from(at(&bytes, tile * 64 + 63 - 2 * rank)))
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &shorts), bind(device, &longs), bind(device, &bytes)]);
    }

    #[test]
    fn four_tiles_show_each_thread_its_own_elements_at_every_scope(case in case(), less in 0..64_usize) {
        let instance = case.instance(&four_tiles::INSTANCES);
        let len = case.len(32);
        let tiles = len.div_ceil(32);
        let bytes = elements::<u8>((tiles * 128).saturating_sub(2 * less).max(1), case.seed);
        let triples = elements::<[u32; 3]>((tiles * 32).saturating_sub(less % 32).max(1), !case.seed);
        let (longs, shorts) = (elements::<u64>(len, case.seed ^ 1), elements::<u16>(tiles * 64, case.seed ^ 2));
        let expected: Vec<u64> = (0..len)
            .map(|index| {
                let sum = at(&longs, index).wrapping_mul(7).wrapping_add(u64::from(at(&triples, index)[2]) << 20);
                sum.wrapping_add(u64::from(at(&shorts, 2 * index + 1)) << 8).wrapping_add(at(&bytes, 4 * index + 3).into())
            })
            .collect();
        gives(instance, case, &expected, |device| {
            vec![bind(device, &bytes), bind(device, &triples), bind(device, &longs), bind(device, &shorts)]
        });
    }
}
