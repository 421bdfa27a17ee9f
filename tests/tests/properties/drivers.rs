//! The drivers that know a block's tiles: whole and partial ones take loops of their own.

use proptest::prelude::*;
use tilepipe::{
    Arrangement, Block, Blocked, CpAsync, Engine, HaloTile, HaloTile2D, Halos, Halos2D, LoadStore, Shared, Stages,
    Striped, ThreadScope, Tiles, TilesMut, TilesMut2D, kernel,
};
use tilepipe_host::Device;
use tilepipe_runner::array::{self, Array};
use tilepipe_runner::data::POISON;
use tilepipe_runner::work::Shape;
use tilepipe_test_kernels::bulk::driven_again;
use tilepipe_tests::case::SCHEDULES;

use crate::launches::{Two, at, bind, case, elements, gives, number};

/// Twice the left input and the right one backwards, as far as both have tiles.
#[kernel(
    instances(E = [CpAsync, LoadStore], A = [Striped, Blocked], LEN = [32, 100], THREADS = [32, 64], STAGES = [1, 2, 3]),
)]
pub fn mapped<E: Engine, A: Arrangement, const LEN: usize, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    left: Tiles<i32, LEN>,
    right: Tiles<i32, LEN>,
    mut out: TilesMut<i32, LEN, A>,
    shared: Shared<Stages<Two<LEN>, STAGES, E>>,
) {
    let (lefts, rights) = (left.for_block(&block), right.for_block(&block));
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles((&lefts, &rights), &mut results, |tiles, dst| {
        let (left, right) = tiles.tiles();
        block.threads(|t| {
            dst.set_each(&t, |element| left[element].wrapping_mul(2).wrapping_add(right[LEN - 1 - element]));
        });
    });
}

/// Each tile backwards, and to each element the sum of those at its place in all tiles of the
/// block: two passes over published tiles.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96], STAGES = [1, 2, 3]))]
pub fn published_twice<E: Engine, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Tiles<i32, THREADS>,
    mut out: TilesMut<i32, THREADS>,
    shared: Shared<Stages<[i32; THREADS], STAGES, E, ThreadScope>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let mut checks = block.map(|_| 0_i32);
    let drained = shared.pipeline(&block).published().for_each_tile(&tiles, |tile, _| {
        block.update(&mut checks, |t, sum| *sum = sum.wrapping_add(tile[THREADS - 1 - t.rank()]));
    });
    let _ = drained.finish().pipeline(&block).published().map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set(&t, tile[THREADS - 1 - t.rank()].wrapping_add(checks.get(&t))));
    });
}

/// The element two before each, less the one two behind, and five times the one before.
#[kernel(instances(E = [CpAsync, LoadStore], LEN = [32, 50], STAGES = [1, 2, 3]))]
pub fn mapped_halos<E: Engine, const LEN: usize, const STAGES: usize>(
    block: Block<LEN>,
    signal: Halos<i32, LEN, 2>,
    mut out: TilesMut<i32, LEN>,
    shared: Shared<Stages<HaloTile<i32, LEN, 2>, STAGES, E>>,
) {
    let tiles = signal.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| {
            let window = tile.window(t.rank());
            dst.set(&t, window[0].wrapping_sub(window[4]).wrapping_add(window[1].wrapping_mul(5)));
        });
    });
}

/// Each element less its lower right neighbour two away.
#[kernel(instances(E = [CpAsync, LoadStore], THREADS = [32, 96], STAGES = [1, 2, 3]))]
pub fn diagonal<E: Engine, const THREADS: usize, const STAGES: usize>(
    block: Block<THREADS>,
    input: Halos2D<i32, 8, 20, 2>,
    mut out: TilesMut2D<i32, 8, 20>,
    shared: Shared<Stages<HaloTile2D<i32, 8, 20, 2>, STAGES, E>>,
) {
    let tiles = input.for_block(&block);
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).for_each_tile(&tiles, |tile, index| {
        let dst = results.get_mut(index);
        block.threads(|t| {
            dst.set_each(&t, |row, column| tile[(row, column)].wrapping_sub(tile.neighbour(row, column, 2, 2)));
        });
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn of_two_inputs_the_tiles_that_both_have_are_mapped(case in case(), share in 0.0..1.3_f64) {
        let instance = case.instance(&mapped::INSTANCES);
        let tile = number(instance, "LEN");
        let right = elements::<i32>(case.len(tile), !case.seed);
        let left = elements::<i32>(((right.len() as f64 * share) as usize).max(1), case.seed);
        // The output has room for all of the longer input.
        let len = left.len().max(right.len());
        let both = left.len().div_ceil(tile).min(right.len().div_ceil(tile)) * tile;
        let unwritten = i32::from_ne_bytes([POISON; 4]);
        let expected: Vec<i32> = (0..len)
            .map(|index| {
                let mirrored = at(&right, index / tile * tile + (tile - 1 - index % tile));
                if index < both { at(&left, index).wrapping_mul(2).wrapping_add(mirrored) } else { unwritten }
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &left), bind(device, &right)]);
    }

    #[test]
    fn published_tiles_are_whole_in_both_passes(case in case()) {
        let instance = case.instance(&published_twice::INSTANCES);
        let tile = number(instance, "THREADS");
        let input = elements::<i32>(case.len(tile), case.seed);
        let (tiles, grid) = (input.len().div_ceil(tile), case.grid as usize);
        let mirrored = |number: usize, rank: usize| at(&input, number * tile + tile - 1 - rank);
        let expected: Vec<i32> = (0..input.len())
            .map(|index| {
                let (number, rank) = (index / tile, index % tile);
                let own = (number % grid..tiles).step_by(grid);
                own.fold(mirrored(number, rank), |sum, other| sum.wrapping_add(mirrored(other, rank)))
            })
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn a_pipeline_that_is_driven_again_goes_on_where_it_stands(case in case()) {
        let input = elements::<u32>(case.len(64), case.seed);
        let (tiles, grid) = (input.len().div_ceil(64), case.grid as usize);
        let mirrored = |number: usize, rank: usize| at(&input, number * 64 + 63 - rank);
        for instance in &driven_again::INSTANCES {
            let stages = number(instance, "STAGES");
            let expected: Vec<u32> = (0..input.len())
                .map(|index| {
                    let (tile, rank) = (index / 64, index % 64);
                    let own: Vec<usize> = (tile % grid..tiles).step_by(grid).collect();
                    let drives = [1, 0, stages + 1, own.len()].into_iter().enumerate();
                    let read = drives.flat_map(|(drive, count)| own.iter().cycle().skip(drive % own.len()).take(count));
                    let read = read.fold(0_u32, |read, number| {
                        read.wrapping_mul(31).wrapping_add(mirrored(*number, rank))
                    });
                    mirrored(tile, rank).wrapping_add(read)
                })
                .collect();
            gives(instance, case, &expected, |device| vec![bind(device, &input)]);
        }
    }

    #[test]
    fn halos_are_whole_inside_and_zero_beyond_the_ends(case in case()) {
        let instance = case.instance(&mapped_halos::INSTANCES);
        let input = elements::<i32>(case.len(number(instance, "LEN")), case.seed);
        let around = |index: usize, place: usize| (index + place).checked_sub(2).map_or(0, |index| at(&input, index));
        let expected: Vec<i32> = (0..input.len())
            .map(|index| around(index, 0).wrapping_sub(around(index, 4)).wrapping_add(around(index, 1).wrapping_mul(5)))
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn tiles_of_a_matrix_are_run_through_a_pipeline(case in case(), height in 1..60_usize, width in 1..90_usize) {
        let instance = case.instance(&diagonal::INSTANCES);
        let input = elements::<i32>(height * width, case.seed);
        let expected: Vec<i32> = (0..input.len())
            .map(|index| {
                let (row, column) = (index / width + 2, index % width + 2);
                let other = if row < height && column < width { input[row * width + column] } else { 0 };
                input[index].wrapping_sub(other)
            })
            .collect();
        for schedule in SCHEDULES {
            let device = Device::cpu(schedule);
            let shape = Shape::Matrix { height, width };
            let inputs = [Array::upload(&device, &input, shape).unwrap()];
            let mut out = Array::<i32>::poisoned(&device, shape).unwrap();
            array::run(&device.stream().unwrap(), case.grid, instance, &inputs, &mut out).unwrap();
            prop_assert_eq!(&out.download().unwrap(), &expected, "{}, {:?}", instance.name(), schedule);
        }
    }
}
