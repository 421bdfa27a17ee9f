//! Kernels of other shapes than the shipped ones, at random sizes, grids and schedules, against
//! plain loops.

mod choices;
mod collectives;
mod contents;
mod drivers;
mod kernels;
mod launches;
mod outputs;
mod pictures;
mod private;
mod role_failures;
mod role_features;
mod role_leaving;
mod roles;
mod scopes;
mod shipped;
mod whole;

use kernels::{Byte, Half, Triple};
use kernels::{acquire_first_2, acquire_first_3, release_first_4, wait_first_2, wait_first_3};
use kernels::{reversed, two_passes, two_pipelines, weighted};
use launches::{Case, case, elements, number, run};
use proptest::prelude::*;
use tilepipe::launch::Instance;
use tilepipe::{Element, F32x4, I32x4, U32x4};

/// Each tile backwards, zeros beyond the end.
fn backwards<T: Element>(input: &[T], len: usize) -> Vec<T> {
    let at = |index: usize| input.get(index / len * len + (len - 1 - index % len));
    (0..input.len()).map(|index| at(index).copied().unwrap_or(T::zeroed())).collect()
}

/// The weighted sum of `2 * halo + 1` elements around each, zeros beyond the ends.
fn weighted_loop(input: &[i32], halo: usize) -> Vec<i32> {
    let at = |index: usize| index.checked_sub(halo).and_then(|index| input.get(index)).copied().unwrap_or(0);
    let sum = |index: usize| {
        (0..=2 * halo).fold(0_i32, |sum, place| sum.wrapping_add(at(index + place).wrapping_mul(place as i32 + 1)))
    };
    (0..input.len()).map(sum).collect()
}

fn reversed_is_right<T: Element>(instance: &Instance, case: Case) {
    let len = number(instance, "LEN");
    let input = elements::<T>(case.len(len), case.seed);
    let expected = backwards(&input, len);
    let got = run(instance, case, &[&input], None);
    assert!(got == bytemuck::cast_slice::<T, u8>(&expected), "{} of {} elements", instance.name(), input.len());
}

/// Calls [`reversed_is_right`] for the instance's element type.
fn any_reversed_is_right(instance: &Instance, case: Case) {
    match instance.generic("T").unwrap() {
        "Byte" => reversed_is_right::<Byte>(instance, case),
        "Half" => reversed_is_right::<Half>(instance, case),
        "i32" => reversed_is_right::<i32>(instance, case),
        "u32" => reversed_is_right::<u32>(instance, case),
        "i64" => reversed_is_right::<i64>(instance, case),
        "u64" => reversed_is_right::<u64>(instance, case),
        "f32" => reversed_is_right::<f32>(instance, case),
        "f64" => reversed_is_right::<f64>(instance, case),
        "I32x4" => reversed_is_right::<I32x4>(instance, case),
        "U32x4" => reversed_is_right::<U32x4>(instance, case),
        "Triple" => reversed_is_right::<Triple>(instance, case),
        "F32x4" => reversed_is_right::<F32x4>(instance, case),
        other => panic!("no such element type here: {other}"),
    }
}

#[test]
fn every_instance_of_every_shape_is_right_once_under_each_schedule() {
    for schedule in tilepipe_tests::case::SCHEDULES {
        for instance in &reversed::INSTANCES {
            let case = Case { choice: 0, tiles: 11.3, grid: 2, schedule, seed: 3 };
            any_reversed_is_right(instance, case);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tiles_of_any_length_engine_and_element_type_come_out_backwards(case in case()) {
        any_reversed_is_right(case.instance(&reversed::INSTANCES), case);
    }

    #[test]
    fn every_order_of_steps_by_hand_gives_the_same_results(case in case()) {
        let kernels = [
            &wait_first_2::INSTANCES, &wait_first_3::INSTANCES, &release_first_4::INSTANCES,
            &acquire_first_2::INSTANCES, &acquire_first_3::INSTANCES,
        ];
        for instances in kernels {
            let instance = case.instance(instances);
            let tile = instance.threads() as usize;
            let input = elements::<i32>(case.len(tile), case.seed);
            let got = run(instance, case, &[&input], None);
            prop_assert!(got == bytemuck::cast_slice::<i32, u8>(&backwards(&input, tile)), "{}", instance.name());
        }
    }

    #[test]
    fn two_pipelines_of_one_kernel_keep_apart(case in case(), scale in any::<i32>()) {
        let instance = case.instance(&two_pipelines::INSTANCES);
        let tile = instance.threads() as usize;
        let len = case.len(tile);
        let (left, right) = (elements::<i32>(len, case.seed), elements::<i32>(len, !case.seed));
        let sum = |(own, other): (i32, &i32)| own.wrapping_add(scale.wrapping_mul(*other));
        let expected: Vec<i32> = backwards(&left, tile).into_iter().zip(&right).map(sum).collect();
        prop_assert!(run(instance, case, &[&left, &right], Some(scale)) == bytemuck::cast_slice::<i32, u8>(&expected));
    }

    #[test]
    fn memory_is_used_again_after_finish_and_threads_keep_their_values(case in case()) {
        let instance = case.instance(&two_passes::INSTANCES);
        let tile = instance.threads() as usize;
        let len = case.len(tile);
        let (first, second) = (elements::<i32>(len, case.seed), elements::<i32>(len, !case.seed));
        let grid = case.grid as usize;
        let mut sums = vec![0_i32; grid * tile];
        for (slot, sum) in sums.iter_mut().enumerate() {
            let (block, rank) = (slot / tile, slot % tile);
            let own = (block * tile + rank..len).step_by(grid * tile);
            *sum = own.fold(rank as i32, |sum, index| sum.wrapping_add(first[index]));
        }
        let mut expected = backwards(&second, tile);
        for (index, value) in expected.iter_mut().enumerate() {
            *value = value.wrapping_add(sums[index / tile % grid * tile + index % tile]);
        }
        prop_assert!(run(instance, case, &[&first, &second], None) == bytemuck::cast_slice::<i32, u8>(&expected));
    }

    #[test]
    fn halos_of_every_width_see_their_neighbours_and_zeros_beyond_the_ends(case in case()) {
        let instance = case.instance(&weighted::INSTANCES);
        let input = elements::<i32>(case.len(number(instance, "LEN")), case.seed);
        let expected = weighted_loop(&input, number(instance, "HALO"));
        let got = run(instance, case, &[&input], None);
        prop_assert!(got == bytemuck::cast_slice::<i32, u8>(&expected), "{}", instance.name());
    }
}
