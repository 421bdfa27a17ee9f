//! The small kernels of roles that the GPU's tests compare with the CPU, against plain loops.

use proptest::prelude::*;
use tilepipe::Element;
use tilepipe_test_kernels::role_features::{
    GAP, collectives_of_roles, four_roles, gaps_between_roles, pairs_between_roles, scans_of_roles, there_and_back,
    three_loads, three_passes,
};
use tilepipe_test_kernels::role_steps::{
    self, LEN, STEPS, WAYS, acquires_in_vain, dawdle, quits_at_every_step, slow_few, slow_halves, slow_warps,
    waits_in_vain,
};
use tilepipe_tests::features::collectives_of_block;

use crate::backwards;
use crate::launches::{Case, at, bind, case, elements, gives, number};

/// What tile, which round of its block and which element an index stands for.
fn place(index: usize, len: usize, case: Case) -> (usize, usize, usize) {
    (index / len, index / len / case.grid as usize, index % len)
}

fn gaps_are_right<T: Element + From<u8> + std::fmt::Debug>(instance: &tilepipe::launch::Instance, case: Case) {
    let input = elements::<T>(case.len(96), case.seed);
    let turned = backwards(&input, 96);
    let expected: Vec<T> = (0..input.len())
        .map(|index| match place(index, 96, case).1 {
            round if round % 3 == 1 => T::from(GAP),
            round if round % 7 == 3 => T::from(0),
            _ => turned[index],
        })
        .collect();
    gives(instance, case, &expected, |device| vec![bind(device, &input)]);
}

/// `mirrored(3 * input)` of tiles of `len` elements.
fn tripled_is_right<T: Element + std::fmt::Debug>(
    instance: &tilepipe::launch::Instance,
    case: Case,
    len: usize,
    triple: impl Fn(T) -> T,
) {
    let input = elements::<T>(case.len(len), case.seed);
    let expected: Vec<T> = backwards(&input, len).into_iter().map(triple).collect();
    gives(instance, case, &expected, |device| vec![bind(device, &input)]);
}

/// The sum over the tiles of each block.
fn sum_of_blocks(input: &[u32], tile: usize, case: Case, value: impl Fn(usize, u32) -> u32) -> Vec<u32> {
    let mut sums = vec![0_u32; case.grid as usize];
    for (index, element) in input.iter().enumerate() {
        let sum = &mut sums[index / tile % case.grid as usize];
        *sum = sum.wrapping_add(value(index % tile, *element));
    }
    sums
}

/// The number that [`quits_at_every_step`] writes for a pair of ways.
fn counts_of_ways(pair: usize, stages: usize) -> u32 {
    let way = pair % WAYS;
    (0..STEPS * STEPS).fold(0, |number, counts| {
        let (commits, releases) = (counts / STEPS, counts % STEPS);
        let got = commits.min(if way < 3 { releases } else { releases + 1 });
        let committed = commits.min(if way < 5 { releases } else { releases + 1 } + stages);
        u32::wrapping_mul(number, 31).wrapping_add((16 * committed + got) as u32)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stages_committed_empty_and_stages_of_zeros_are_told_apart(case in case()) {
        let instance = case.instance(&gaps_between_roles::INSTANCES);
        match instance.generic("T").unwrap() {
            "u8" => gaps_are_right::<u8>(instance, case),
            _ => gaps_are_right::<i32>(instance, case),
        }
    }

    #[test]
    fn two_tiles_of_a_stage_come_from_two_views(case in case()) {
        let instance = case.instance(&pairs_between_roles::INSTANCES);
        let left = elements::<u32>(case.len(128), case.seed);
        let right = elements::<u8>(left.len(), !case.seed);
        let turned = backwards(&right, 128);
        let sum = |(left, right): (&u32, &u8)| left.wrapping_add(u32::from(*right) << 8);
        let expected: Vec<u32> = left.iter().zip(&turned).map(sum).collect();
        gives(instance, case, &expected, |device| vec![bind(device, &left), bind(device, &right)]);
    }

    #[test]
    fn four_roles_hand_each_tile_on_in_order(case in case()) {
        let instance = case.instance(&four_roles::INSTANCES);
        match instance.generic("T").unwrap() {
            "u8" => tripled_is_right::<u8>(instance, case, 64, |value| value.wrapping_mul(3)),
            _ => tripled_is_right::<u32>(instance, case, 64, |value| value.wrapping_mul(3)),
        }
    }

    #[test]
    fn three_pipelines_load_at_once_for_two_of_four_roles(case in case()) {
        let input = elements::<u32>(case.len(64), case.seed);
        let (tiles, grid) = (input.len().div_ceil(64), case.grid as usize);
        let expected: Vec<u32> = (0..input.len())
            .map(|index| {
                let (tile, round, element) = place(index, 64, case);
                let own: Vec<usize> = (tile % grid..tiles).step_by(grid).collect();
                let (far, next) = (own[own.len() - 1 - round], own[(round + 1) % own.len()]);
                let terms = [(3, index), (5, far * 64 + 63 - element), (7, next * 64 + element)];
                terms.into_iter().fold(0_u32, |sum, (factor, index)| sum.wrapping_add(at(&input, index).wrapping_mul(factor)))
            })
            .collect();
        for instance in &three_loads::INSTANCES {
            gives(instance, case, &expected, |device| vec![bind(device, &input)]);
        }
    }

    #[test]
    fn two_roles_hand_tiles_there_and_back(case in case()) {
        let instance = case.instance(&there_and_back::INSTANCES);
        match instance.generic("T").unwrap() {
            "u8" => tripled_is_right::<u8>(instance, case, 48, |value| value.wrapping_mul(3)),
            _ => tripled_is_right::<i32>(instance, case, 48, |value| value.wrapping_mul(3)),
        }
    }

    #[test]
    fn memory_serves_three_pipelines_and_kept_values_come_back(case in case()) {
        let instance = case.instance(&three_passes::INSTANCES);
        let input = elements::<u32>(case.len(128), case.seed);
        let sums = sum_of_blocks(&input, 128, case, |place, element| element.wrapping_mul(place as u32 % 64 + 1));
        let expected: Vec<u32> = input
            .iter()
            .enumerate()
            .map(|(index, element)| element.wrapping_add(sums[index / 128 % case.grid as usize]))
            .collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn collectives_of_a_role_are_those_of_a_block_of_its_size(case in case()) {
        let instance = case.instance(&collectives_of_roles::INSTANCES);
        let size = number(instance, "CONSUMERS");
        let input = elements::<u32>(case.len(size), case.seed);
        let expected: Vec<u32> = input.chunks(size).flat_map(|tile| collectives_of_block(tile, size)).collect();
        gives(instance, case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn scans_and_warps_of_a_role_are_right(case in case()) {
        let input = elements::<u32>(case.len(64), case.seed);
        let sum = |indices: std::ops::Range<usize>| indices.fold(0_u32, |sum, index| sum.wrapping_add(at(&input, index)));
        let expected: Vec<u32> = (0..input.len())
            .map(|index| sum(index / 64 * 64..index + 1).wrapping_add(sum(index / 32 * 32..index / 32 * 32 + 32)))
            .collect();
        gives(&scans_of_roles::INSTANCES[0], case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn slow_threads_lose_nothing(case in case()) {
        let input = elements::<u32>(case.len(LEN), case.seed);
        let turned = backwards(&input, LEN);
        let expected: Vec<u32> = (0..input.len())
            .map(|index| {
                let (_, lap, element) = place(index, LEN, case);
                turned[index] ^ dawdle(element, lap) ^ dawdle(element, lap + 1)
            })
            .collect();
        for instances in [&slow_warps::INSTANCES, &slow_halves::INSTANCES, &slow_few::INSTANCES] {
            gives(case.instance(instances), case, &expected, |device| vec![bind(device, &input)]);
        }
    }

    #[test]
    fn a_wait_in_vain_leaves_the_end_as_it_was(case in case()) {
        let input = elements::<u32>(case.len(LEN), case.seed);
        let expected: Vec<u32> = (0..input.len())
            .map(|index| input[index].wrapping_add(1000 * (place(index, LEN, case).1 as u32 + 1)))
            .collect();
        gives(case.instance(&waits_in_vain::INSTANCES), case, &expected, |device| vec![bind(device, &input)]);
    }

    #[test]
    fn an_acquire_in_vain_leaves_the_end_as_it_was(case in case()) {
        let input = elements::<u32>(case.len(LEN), case.seed);
        let expected: Vec<u32> = input.iter().map(|element| element.wrapping_add(3000)).collect();
        gives(case.instance(&acquires_in_vain::INSTANCES), case, &expected, |device| vec![bind(device, &input)]);
    }
}

#[test]
fn roles_may_leave_after_any_number_of_steps_in_any_way() {
    let input = elements::<u32>(2 * role_steps::LEN, 3);
    for instance in &quits_at_every_step::INSTANCES {
        let numbers = (0..WAYS * WAYS).map(|pair| counts_of_ways(pair, number(instance, "STAGES")));
        let unwritten = u32::from_ne_bytes([tilepipe_runner::data::POISON; 4]);
        let mut tile: Vec<u32> = numbers.collect();
        tile.resize(LEN, unwritten);
        let case =
            Case { choice: 0, tiles: 2.0, grid: 2, schedule: tilepipe::cpu::Schedule::Random { seed: 8 }, seed: 0 };
        gives(instance, case, &[tile.clone(), tile].concat(), |device| vec![bind(device, &input)]);
    }
}
