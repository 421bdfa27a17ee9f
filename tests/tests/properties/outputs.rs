//! Outputs: several tiles at a time, and elements in a row.

use proptest::prelude::*;
use tilepipe::{Block, Blocked, CpAsync, Element, Engine, I32x4, LoadStore, Shared, Stages, Tiles, TilesMut, kernel};

use crate::launches::{Case, at, bind, case, elements, gives, number};

/// A block's tiles swapped in pairs, both written in one closure; an odd one out stays where it is.
#[kernel(instances(THREADS = [32, 96], STAGES = [1, 2, 3]))]
pub fn swapped<const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<([i32; THREADS], [i32; THREADS]), STAGES>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let last = |pair: usize| (2 * pair + 1).min(tiles.len() - 1);
    let _ = shared.pipeline(&block).for_each(
        tiles.len().div_ceil(2),
        |stage, pair| stage.copy((tiles.get(2 * pair), tiles.get(last(pair)))),
        |both, pair| {
            let (first, second) = both.tiles();
            if last(pair) == 2 * pair {
                let dst = results.get_mut(2 * pair);
                return block.threads(|t| dst.set(&t, first[t.rank()]));
            }
            let [one, other] = results.get_disjoint_mut([2 * pair, 2 * pair + 1]);
            block.threads(|t| {
                one.set(&t, second[t.rank()]);
                other.set(&t, first[t.rank()]);
            });
        },
    );
}

/// Each thread's `N` elements in a row backwards, written at once.
#[kernel(
    instances(T = [u8], E = [CpAsync, LoadStore], THREADS = [32], LEN = [512], N = [16], STAGES = [2]),
    instances(T = [u8, u16], E = [CpAsync, LoadStore], THREADS = [32], LEN = [96], N = [3], STAGES = [2]),
    instances(T = [i32, i64], E = [CpAsync], THREADS = [48], LEN = [192], N = [4], STAGES = [1, 3]),
    instances(T = [f64, u128, I32x4, [f32; 3]], E = [CpAsync, LoadStore], THREADS = [32], LEN = [64], N = [2], STAGES = [2]),
    instances(T = [i32], E = [CpAsync], THREADS = [32], LEN = [32], N = [1], STAGES = [2]),
)]
pub fn rows_backwards<
    T: Element,
    E: Engine,
    const THREADS: usize,
    const LEN: usize,
    const N: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN, Blocked>,
    shared: Shared<Stages<[T; LEN], STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            let own = tile.own(&t);
            dst.set_all::<N>(&t, std::array::from_fn(|nth| own[N - 1 - nth]));
        });
    });
}

/// The same one by one, as far as the threads' elements lie in the view; of a tile that threads
/// don't divide, the last have fewer.
#[kernel(instances(THREADS = [32, 64], LEN = [32, 50, 100]))]
pub fn blocked_places<const THREADS: usize, const LEN: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, Blocked>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    for index in 0..tiles.len() {
        let dst = results.get_mut(index);
        block.threads(|t| dst.set_each(&t, |element| (1000 * t.rank() + element) as i32));
    }
}

fn rows_backwards_are_right<T: Element + std::fmt::Debug>(instance: &tilepipe::launch::Instance, case: Case) {
    let (len, row) = (case.len(number(instance, "LEN")), number(instance, "N"));
    let input = elements::<T>(len, case.seed);
    let expected: Vec<T> = (0..len).map(|index| at(&input, index / row * row + (row - 1 - index % row))).collect();
    gives(instance, case, &expected, |device| vec![bind(device, &input)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn two_tiles_at_a_time_are_written_in_one_closure(case in case()) {
        let instance = case.instance(&swapped::INSTANCES);
        let (tile, grid) = (number(instance, "THREADS"), case.grid as usize);
        let input = elements::<i32>(case.len(tile), case.seed);
        let tiles = input.len().div_ceil(tile);
        let expected: Vec<i32> = (0..input.len())
            .map(|index| {
                // The `round`-th tile of a block changes places with the one before or behind, if
                // there is one.
                let (round, block) = (index / tile / grid, index / tile % grid);
                let partner = (round ^ 1) * grid + block;
                let from = if partner < tiles { partner } else { index / tile };
                at(&input, from * tile + index % tile)
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn a_threads_elements_in_a_row_are_written_at_once(case in case()) {
        let instance = case.instance(&rows_backwards::INSTANCES);
        match instance.generic("T").unwrap() {
            "u8" => rows_backwards_are_right::<u8>(instance, case),
            "u16" => rows_backwards_are_right::<u16>(instance, case),
            "i32" => rows_backwards_are_right::<i32>(instance, case),
            "i64" => rows_backwards_are_right::<i64>(instance, case),
            "f64" => rows_backwards_are_right::<f64>(instance, case),
            "u128" => rows_backwards_are_right::<u128>(instance, case),
            "I32x4" => rows_backwards_are_right::<I32x4>(instance, case),
            "[f32;3]" => rows_backwards_are_right::<[f32; 3]>(instance, case),
            other => panic!("no such element type here: {other}"),
        }
    }

    #[test]
    fn every_element_of_a_blocked_tile_has_one_owner(case in case()) {
        let instance = case.instance(&blocked_places::INSTANCES);
        let (tile, threads) = (number(instance, "LEN"), number(instance, "THREADS"));
        let (input, own) = (elements::<i32>(case.len(tile), case.seed), tile.div_ceil(threads));
        let owner = |index: usize| (1000 * (index % tile / own) + index % tile) as i32;
        let expected: Vec<i32> = (0..input.len()).map(owner).collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }
}
