//! Pipelines between roles: every map, count of stages, element size and engine; several tiles and
//! several pipelines.

#![expect(clippy::type_complexity, reason = "shared memory is laid out by its type")]

use proptest::prelude::*;
use tilepipe::role::{EvenOdd, FirstThreads, Partitioned, WarpRoles};
use tilepipe::{
    Block, CpAsync, Element, Engine, I32x4, LoadStore, Optional, Shared, Stages, Tiles, TilesMut, Zeros, kernel,
};
use tilepipe_tests::case::SCHEDULES;

use crate::any_reversed_is_right;
use crate::kernels::{Byte, Half, Triple};
use crate::launches::{Case, at, bind, case, elements, gives};

/// Writes each tile backwards: threads of even rank copy, the others compute, through a driver.
#[kernel(
    instances(T = [Byte, Half, i32, i64, Triple, I32x4], E = [CpAsync, LoadStore], HALF = [20], THREADS = [40], LEN = [100], STAGES = [3]),
    instances(T = [i32], E = [CpAsync], HALF = [32], THREADS = [64], LEN = [33], STAGES = [1, 2, 4, 5, 6, 7, 8]),
    instances(T = [i32], E = [LoadStore], HALF = [1], THREADS = [2], LEN = [7], STAGES = [1, 2]),
)]
pub fn by_parity<
    T: Element,
    E: Engine,
    const HALF: usize,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block.partition::<EvenOdd<HALF>>().pipeline(shared).map_tiles(&tiles, &mut out, |odd, tile, dst| {
        odd.threads(|t| dst.set_each(&t, |element| tile[LEN - 1 - element]));
    });
}

/// The same with the first `P` threads as producers, by hand.
#[kernel(
    instances(T = [Byte, Half, i32, i64, Triple, I32x4], E = [CpAsync, LoadStore], P = [33], C = [7], THREADS = [40], LEN = [100], STAGES = [3]),
    instances(T = [i32], E = [CpAsync], P = [1], C = [39], THREADS = [40], LEN = [33], STAGES = [1, 2, 4, 5, 6, 7, 8]),
    instances(T = [i32], E = [CpAsync, LoadStore], P = [50], C = [1], THREADS = [51], LEN = [6], STAGES = [1, 2]),
)]
pub fn by_count<
    T: Element,
    E: Engine,
    const P: usize,
    const C: usize,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<FirstThreads<P, C>>()
        .pipeline(shared)
        .role((), |_, mut producer, ()| {
            for i in 0..tiles.len() {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(tiles.get(i)).commit();
            }
        })
        .role(&mut out, |group, mut consumer, out| {
            let mut results = out.for_role(&group);
            let mut i = 0;
            while let Ok(tile) = consumer.wait() {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |element| tile[LEN - 1 - element]));
                consumer = tile.release();
                i += 1;
            }
        })
        .run();
}

/// The same in whole warps, with the drivers of both ends.
#[kernel(
    instances(T = [Byte, Half, i32, i64, Triple, I32x4], E = [CpAsync, LoadStore], P = [32], C = [64], THREADS = [96], LEN = [100], STAGES = [3]),
    instances(T = [i32], E = [CpAsync], P = [64], C = [32], THREADS = [96], LEN = [33], STAGES = [1, 2, 4, 5, 6, 7, 8]),
    instances(T = [i32], E = [LoadStore], P = [32], C = [32], THREADS = [64], LEN = [256], STAGES = [1, 2]),
)]
pub fn by_warps<
    T: Element,
    E: Engine,
    const P: usize,
    const C: usize,
    const THREADS: usize,
    const LEN: usize,
    const STAGES: usize,
>(
    block: Block<THREADS>,
    input: Tiles<T, LEN>,
    mut out: TilesMut<T, LEN>,
    shared: Shared<Partitioned<Stages<[T; LEN], STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<P, C>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)));
        })
        .role(&mut out, |group, consumer, out| {
            let mut results = out.for_role(&group);
            consumer.for_each(|tile, i| {
                let dst = results.get_mut(i);
                group.threads(|t| dst.set_each(&t, |element| tile[LEN - 1 - element]));
            });
        })
        .run();
}

/// Structs of 64 bytes, each in four parts of 16: the sum of the parts.
#[kernel(instances(E = [CpAsync, LoadStore], STAGES = [1, 2, 5]))]
pub fn structs_in_parts<E: Engine, const STAGES: usize>(
    block: Block<24>,
    input: Tiles<I32x4, 64>,
    mut out: TilesMut<I32x4, 16>,
    shared: Shared<Partitioned<Stages<[I32x4; 64], STAGES, E>>>,
) {
    let tiles = input.for_block(&block);
    let _ =
        block.partition::<FirstThreads<8, 16>>().pipeline(shared).map_tiles(&tiles, &mut out, |group, tile, dst| {
            group.threads(|t| {
                let part = |number: usize| tile[4 * t.rank() + number].0;
                let sum = |lane: usize| (0..4).fold(0_i32, |sum, number| sum.wrapping_add(part(number)[lane]));
                dst.set(&t, tilepipe::Vec4([sum(0), sum(1), sum(2), sum(3)]));
            });
        });
}

/// Three tiles of different types and lengths in one stage, zeros instead of the last one in every
/// second round.
#[kernel(instances(E = [CpAsync, LoadStore], STAGES = [1, 2, 3]))]
pub fn three_tiles_between_roles<E: Engine, const STAGES: usize>(
    block: Block<64>,
    shorts: Tiles<u16, 96>,
    longs: Tiles<i64, 32>,
    bytes: Tiles<u8, 64>,
    mut out: TilesMut<i64, 32>,
    shared: Shared<Partitioned<Stages<([u16; 96], [i64; 32], [u8; 64]), STAGES, E>>>,
) {
    let (shorts, longs, bytes) = (shorts.for_block(&block), longs.for_block(&block), bytes.for_block(&block));
    let _ = block
        .partition::<EvenOdd<32>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(longs.len(), |stage, i| {
                let (short, long) = (shorts.get(i), longs.get(i));
                if i % 2 == 0 { stage.copy((short, long, bytes.get(i))) } else { stage.copy((short, long, Zeros)) }
            });
        })
        .role(&mut out, |group, consumer, out| {
            let mut results = out.for_role(&group);
            consumer.for_each(|tiles, i| {
                let (shorts, longs, bytes) = tiles.tiles();
                let dst = results.get_mut(i);
                group.threads(|t| {
                    let sum = longs[31 - t.rank()].wrapping_mul(5).wrapping_add(i64::from(shorts[95 - t.rank()]) << 8);
                    dst.set(&t, sum.wrapping_add(i64::from(bytes[63 - 2 * t.rank()])));
                });
            });
        })
        .run();
}

/// A pipeline of so many stages between roles.
type Ring<C, const STAGES: usize, E = CpAsync> = Partitioned<Stages<C, STAGES, E>>;

/// Four pipelines between the same roles: `a + 3 * b + 5 * number + d`, where every third `d` is
/// left out.
#[kernel]
pub fn four_pipelines(
    block: Block<40>,
    input: Tiles<i32, 32>,
    mut out: TilesMut<i32, 32>,
    shared: Shared<(
        (Ring<[i32; 32], 1>, Ring<[i32; 32], 2>),
        (Ring<[i32; 32], 3, LoadStore>, Ring<Optional<[i32; 32]>, 2>),
    )>,
) {
    let (first, second) = shared.split();
    let ((a, b), (c, d)) = (first.split(), second.split());
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<FirstThreads<23, 17>>()
        .pipeline(a)
        .pipeline(b)
        .pipeline(c)
        .pipeline(d)
        .role((), |group, (mut a, mut b, mut c, mut d), ()| {
            for i in 0..tiles.len() {
                let tile = tiles.get(i);
                let Ok(stage) = a.acquire() else { return };
                a = stage.copy(tile).commit();
                let Ok(stage) = b.acquire() else { return };
                b = stage.copy(tile).commit();
                let Ok(stage) = c.acquire() else { return };
                c = stage.fill(&group, |_, element| (i * 32 + element) as i32).commit();
                let Ok(stage) = d.acquire() else { return };
                d = stage.copy((i % 3 != 0).then_some(tile)).commit();
            }
        })
        .role(&mut out, |group, (mut a, mut b, mut c, mut d), out| {
            let mut results = out.for_role(&group);
            let mut i = 0;
            // In another order than they are filled in: each has a stage, so nobody waits for ever.
            while let (Ok(numbers), Ok(whole), Ok(tile)) = (c.wait(), a.wait(), b.wait()) {
                let Ok(perhaps) = d.wait() else { return };
                let dst = results.get_mut(i);
                group.threads(|t| {
                    dst.set_each(&t, |element| {
                        let sum = whole[31 - element].wrapping_add(tile[element].wrapping_mul(3));
                        let sum = sum.wrapping_add(numbers[element].wrapping_mul(5));
                        perhaps.get().map_or(sum, |tile| sum.wrapping_add(tile[element ^ 1]))
                    });
                });
                (a, b, c, d) = (whole.release(), tile.release(), numbers.release(), perhaps.release());
                i += 1;
            }
        })
        .run();
}

#[test]
fn every_instance_of_every_map_is_right_once_under_each_schedule() {
    for schedule in SCHEDULES {
        for instance in by_parity::INSTANCES.iter().chain(&by_count::INSTANCES).chain(&by_warps::INSTANCES) {
            any_reversed_is_right(instance, Case { choice: 0, tiles: 21.3, grid: 2, schedule, seed: 3 });
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn roles_of_every_map_stage_count_and_element_size_pass_every_tile(case in case()) {
        for instances in [&by_parity::INSTANCES[..], &by_count::INSTANCES, &by_warps::INSTANCES] {
            any_reversed_is_right(case.instance(instances), case);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn structs_of_64_bytes_land_with_all_their_parts(case in case()) {
        let instance = case.instance(&structs_in_parts::INSTANCES);
        let input = elements::<I32x4>(case.len(64), case.seed);
        let lane = |index: usize, lane: usize| {
            (0..4).fold(0_i32, |sum, part| sum.wrapping_add(at(&input, 4 * index + part).0[lane]))
        };
        let expected: Vec<I32x4> = (0..input.len().div_ceil(4))
            .map(|index| tilepipe::Vec4([lane(index, 0), lane(index, 1), lane(index, 2), lane(index, 3)]))
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn tiles_of_different_types_land_together_between_roles(case in case()) {
        let instance = case.instance(&three_tiles_between_roles::INSTANCES);
        let len = case.len(32);
        let tiles = len.div_ceil(32);
        let longs = elements::<i64>(len, case.seed);
        let (shorts, bytes) = (elements::<u16>(tiles * 96, !case.seed), elements::<u8>(tiles * 64, case.seed ^ 1));
        let expected: Vec<i64> = (0..len)
            .map(|index| {
                let (tile, rank) = (index / 32, index % 32);
                let sum = at(&longs, tile * 32 + 31 - rank).wrapping_mul(5);
                let sum = sum.wrapping_add(i64::from(at(&shorts, tile * 96 + 95 - rank)) << 8);
                let is_there = (tile / case.grid as usize).is_multiple_of(2);
                sum.wrapping_add(if is_there { i64::from(at(&bytes, tile * 64 + 63 - 2 * rank)) } else { 0 })
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &shorts), bind(device, &longs), bind(device, &bytes)]);
    }

    #[test]
    fn pipelines_between_the_same_roles_keep_apart(case in case()) {
        let input = elements::<i32>(case.len(32), case.seed);
        let expected: Vec<i32> = (0..input.len())
            .map(|index| {
                let (tile, element) = (index / 32, index % 32);
                let round = tile / case.grid as usize;
                let sum = at(&input, tile * 32 + 31 - element).wrapping_add(input[index].wrapping_mul(3));
                let sum = sum.wrapping_add(((round * 32 + element) as i32).wrapping_mul(5));
                if round.is_multiple_of(3) { sum } else { sum.wrapping_add(at(&input, index ^ 1)) }
            })
            .collect();
        gives(&four_pipelines::INSTANCES[0], case, &expected, |device| vec![bind(device, &input)]);
    }
}
