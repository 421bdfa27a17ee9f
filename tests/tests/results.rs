//! Every instance of every kernel on the CPU, under every schedule and at every kind of size,
//! against a plain loop.

use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_kernels::compute::{Complex, Number};
use tilepipe_kernels::gather;
use tilepipe_runner::value::{DType, Value};
use tilepipe_test_kernels::features::collectives_of_blocks;
use tilepipe_test_kernels::orders::unequal_in_a_row;
use tilepipe_test_kernels::reads::gathered;
use tilepipe_test_kernels::tails::{COLUMNS, LEN, TRIPLES};
use tilepipe_test_kernels::tensor::box_anywhere;
use tilepipe_test_kernels::wide::{
    elements_between_roles, wide_between_roles, wide_by_hand, wide_own, wide_runs, wide_stored, wide_tiles,
};
use tilepipe_tests::case::{self, ForType, Group, SCHEDULES};
use tilepipe_tests::{
    atomics, dimensions, features, locals, memory, orders, parameters, products, reads, scratch, tails, tensors,
};

/// Checks all instances of a kernel, and returns how many there were.
fn every_instance_is_right(kernel: &str) -> usize {
    let devices = SCHEDULES.map(Device::cpu);
    let groups = case::groups(kernel);
    for group in &groups {
        for size in case::small_sizes(group.work) {
            case::check_group(&devices, group, size);
        }
    }
    groups.iter().map(|group| group.instances.len()).sum()
}

/// Makes a test for each kernel of the registry: there are as many instances as its row says, and
/// all of them are right.
macro_rules! kernels {
    ($($kernel:ident { computes: $kind:ident, instances: $instances:expr, $($rest:tt)* })*) => {
        mod every_instance_is_right_at_every_size_under_every_schedule {
            $(
                #[test]
                fn $kernel() {
                    assert_eq!(super::every_instance_is_right(stringify!($kernel)), $instances);
                }
            )*
        }
    };
}
tilepipe_kernel_registry::with_kernels!(kernels);

/// Runs a group's instances on elements of random bits.
struct RandomBits<'a>(&'a Group);

impl ForType for RandomBits<'_> {
    type Output = ();

    fn call<T: Value>(self) {
        let Group { work, instances, .. } = self.0;
        let size = case::medium_size(*work);
        let elements = size.shape.elements();
        let inputs: Vec<Vec<T>> =
            (0..work.kind.inputs()).map(|number| case::random_bits(elements, 11 << number)).collect();
        let expected = case::expected(*work, &inputs, size);
        let output = work.output(size.shape, size.grid as usize);
        let device = Device::cpu(Schedule::Random { seed: 5 });
        let stream = device.stream().unwrap();
        let inputs = case::upload(&device, *work, &inputs, size).unwrap();
        for instance in instances {
            let got = case::run(&stream, instance, output, size.grid, &inputs).unwrap();
            assert_eq!(got.compare(&expected), None, "{}", instance.name());
        }
    }
}

#[test]
fn infinities_nans_and_subnormals_are_computed_as_by_the_plain_loop() {
    for kernel in [
        "with_staging_unified",
        "moving_average",
        "moving_average_wide",
        "moving_average_reads",
        "transpose_reads",
        "sum",
        "argmax",
        "argmax_bulk",
        "dot",
        "stencil_2d",
        "stencil_2d_wide",
        "stencil_2d_reads",
        "with_specialized_staging_warps",
        "producer_consumer_sum",
        "load_compute_store",
    ] {
        for mut group in case::groups(kernel) {
            group.instances.truncate(3);
            case::with_type(group.dtype, RandomBits(&group));
        }
    }
}

/// Small kernels for what the others do not use: the same bytes under every schedule, and on a GPU
/// (`gpu.rs`).
#[test]
fn features_write_the_same_under_every_schedule() {
    for feature in features::all() {
        let first: Vec<_> = feature.written(&Device::cpu(SCHEDULES[0])).map(Result::unwrap).collect();
        for schedule in &SCHEDULES[1..] {
            for (one, other) in first.iter().zip(feature.written(&Device::cpu(*schedule))) {
                let other = other.unwrap();
                assert_eq!(one.launch, other.launch);
                assert!(one.bytes == other.bytes, "{} differs under {schedule:?}", one.launch);
            }
        }
    }
}

/// Kernels over several engines write the same with each of them.
#[test]
fn pipelines_of_the_copy_engine_write_what_those_of_threads_write() {
    let mut compared = 0;
    for schedule in SCHEDULES {
        // Those of wide tiles are compared with a plain loop, and have other sizes with each
        // engine.
        for feature in features::all().into_iter().filter(|feature| feature.kernel() != "wide_tiles") {
            let written: Vec<_> = feature.written(&Device::cpu(schedule)).map(Result::unwrap).collect();
            let of_engine = |engine: &str, other: &str| -> Vec<(String, &[u8])> {
                let own = written.iter().filter(|one| one.launch.contains(engine));
                own.map(|one| (one.launch.replace(engine, other), one.bytes.as_slice())).collect()
            };
            let by_threads = of_engine("CpAsync", "CpAsync");
            for (launch, bytes) in of_engine("Bulk", "CpAsync") {
                let same = by_threads.iter().find(|(other, _)| *other == launch);
                let (_, same) = same.unwrap_or_else(|| panic!("{launch}: only with the copy engine"));
                assert!(bytes == *same, "{launch} differs with the copy engine under {schedule:?}");
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn tiles_computed_in_shared_memory_are_those_of_plain_loops() {
    for schedule in SCHEDULES {
        assert_eq!(scratch::check(&Device::cpu(schedule)).unwrap(), 4 * 23 + 4 * 3 + 3 * 3);
    }
}

#[test]
fn memory_in_parts_has_room_for_all_of_them() {
    for schedule in SCHEDULES {
        assert_eq!(memory::parts::check(&Device::cpu(schedule)).unwrap(), 3);
    }
}

#[test]
fn reads_anywhere_are_those_of_plain_loops() {
    for schedule in SCHEDULES {
        assert_eq!(reads::check(&Device::cpu(schedule)).unwrap(), 5 * (5 + 4) + 11 * (17 + 16 + 8 + 5 + 2 + 2) + 4 * 5);
    }
}

#[test]
fn threads_that_add_to_the_same_memory_leave_what_plain_loops_do() {
    for schedule in SCHEDULES {
        let launches = (4 * 6 + 3) * (1 + 2) + 3 + 2;
        // Those of single sums: each instance once for `f32`, and twice for `f16`.
        assert_eq!(atomics::check(&Device::cpu(schedule)).unwrap(), 5 * launches + 3 * (1 + 2));
    }
}

#[test]
fn tiles_in_a_row_and_whole_rows_are_the_blocks_that_plain_loops_give_them_to() {
    for schedule in SCHEDULES {
        assert_eq!(orders::check(&Device::cpu(schedule), true).unwrap(), 3 * (6 * 4 + 4 * 2));
    }
}

#[test]
fn views_in_a_row_with_other_numbers_of_tiles_fail_the_launch_with_both_ends() {
    let device = Device::cpu(Schedule::Lazy);
    let input = device.upload(&[1; 5 * 64]).unwrap();
    let mut out = device.zeroed::<u32>(6 * 64).unwrap();
    let error = unequal_in_a_row::launch(&device.stream().unwrap(), 2, &input, &mut out).unwrap_err().to_string();
    assert!(error.contains("below number 5, another those below number 6"), "{error}");
    assert!(error.contains("all views have the same number of tiles"), "{error}");
}

#[test]
fn parameters_are_what_the_launch_was_given() {
    for schedule in SCHEDULES {
        assert_eq!(parameters::check(&Device::cpu(schedule)).unwrap(), 2 * 18 + 2 + 14);
    }
}

#[test]
fn a_read_beyond_the_end_fails_the_launch_with_both_numbers() {
    let device = Device::cpu(Schedule::Lazy);
    let (indices, table) = (device.upload(&[3, 9]).unwrap(), device.upload(&[1_u64; 9]).unwrap());
    let mut out = device.zeroed::<u64>(2).unwrap();
    let launched = gathered::launch(&device.stream().unwrap(), 1, &indices, &table, &mut out);
    let message = launched.unwrap_err().to_string();
    assert!(message.contains("index 9 is out of range: the view has 9 elements"), "{message}");
}

/// In a whole tile, whose indices are read four at once, and in the last one.
#[test]
fn an_index_that_the_table_does_not_have_fails_the_gather_with_its_place() {
    for wrong in [1234, 4096 + 7] {
        let device = Device::cpu(Schedule::Lazy);
        let mut indices = vec![3; 5000];
        indices[wrong] = 9;
        let (indices, table) = (device.upload(&indices).unwrap(), device.upload(&[1.5_f32; 9]).unwrap());
        let mut out = device.zeroed(5000).unwrap();
        let error = gather::launch::<f32, 256, 4, 4096>(&device.stream().unwrap(), 2, &indices, &table, &mut out);
        let Err(Error::KernelPanicked { message, file, line, .. }) = error else { panic!("{error:?}") };
        assert_eq!(message, "index 9 is out of range: the view has 9 elements");
        let source = include_str!("../../kernels/src/lookup.rs");
        assert!(file.ends_with("lookup.rs"), "{file}");
        assert!(source.lines().nth(line as usize - 1).unwrap().contains("table.at("), "line {line}");
    }
}

/// On a GPU every length has its launches (`gpu.rs`), and here under one schedule. Under the others
/// it is every length up to two units of 16 bytes, the multiples of such a unit, and those next to
/// whole tiles.
#[test]
fn views_that_end_anywhere_are_copied_by_the_copy_engine() {
    let near = |elements: &usize, size: usize, reach: usize| (*elements + reach) % size <= 2 * reach;
    for (number, schedule) in SCHEDULES.into_iter().enumerate() {
        let device = Device::cpu(schedule);
        let all = number == 0;
        let sampled = |elements: &usize| all || *elements <= 32 || near(elements, LEN, 2) || near(elements, 16, 0);
        let launches = tails::check_lengths(&device, (1..=tails::MOST).filter(sampled)).unwrap();
        assert!(launches > if all { tails::MOST } else { 50 } * 20, "{launches}");
        let widths = (1..=tails::MOST_COLUMNS).filter(|width| all || near(width, COLUMNS, 1) || width % 16 == 5);
        let expected = widths.clone().count() * 3 * 12 * 2;
        assert_eq!(tails::check_widths(&device, widths).unwrap(), expected);
        let lengths = (1..=tails::MOST_TRIPLES).filter(|length| all || near(length, TRIPLES, 1) || length % 5 == 3);
        let expected = lengths.clone().count() * 8 * 2;
        assert_eq!(tails::check_triples(&device, lengths).unwrap(), expected);
    }
}

#[test]
fn addresses_of_locals_are_the_same_in_all_threads_of_a_block_or_role() {
    for schedule in SCHEDULES {
        locals::check(&Device::cpu(schedule), 3);
    }
}

#[test]
fn kernels_over_rows_triple_every_element() {
    let device = Device::cpu(Schedule::Random { seed: 12 });
    let over_rows = [
        "mapped_rows",
        "rows_in_runs",
        "rows_of_threads",
        "rows_of_warps",
        "pairs_of_rows",
        "rows_between_roles",
        "mapped_boxes",
        "vectors_of_boxes",
        "parts_of_boxes",
        "boxes_between_roles",
        "boxes_by_hand",
        "boxes_through_a_ring",
        "boxes_written_again",
        "boxes_of_a_role",
        "boxes_driven_to_a_role",
    ];
    let mut launches = 0;
    for feature in features::all().into_iter().filter(|feature| over_rows.contains(&feature.kernel())) {
        for written in feature.written(&device) {
            let written = written.unwrap();
            let input = features::in_rows(written.bytes.len() / 4);
            let expected: Vec<u32> = input.into_iter().map(|number| number.wrapping_mul(3)).collect();
            assert_eq!(bytemuck::cast_slice::<u8, u32>(&written.bytes), expected, "{}", written.launch);
            launches += 1;
        }
    }
    assert_eq!(launches, features::EXTENTS.len() * (24 + 2 + 4 + 4 + 2 + 12 + 12 + 1 + 1 + 4 + 2 + 16 + 3 + 8 + 4));
}

#[test]
fn boxes_of_tensors_are_what_a_plain_loop_reads_wherever_they_begin() {
    for (schedule, every) in [(Schedule::Lazy, 1), (Schedule::Random { seed: 5 }, 3)] {
        let device = Device::cpu(schedule);
        assert!(tensors::check_extents(&device, every).unwrap() > 1500);
        assert_eq!(tensors::check_places(&device).unwrap(), 20 * 72);
        assert_eq!(tensors::check_transposes(&device).unwrap(), 6 * 25);
        assert_eq!(tensors::check_reductions(&device).unwrap(), 30 * 9 + 3 * 12);
    }
}

#[test]
fn products_by_tensor_cores_are_those_of_plain_loops() {
    let all = products::check(&Device::cpu(Schedule::Lazy), &products::SMALL, 1).unwrap();
    assert_eq!(all, 30 * products::SMALL.len() * 2);
    for schedule in [Schedule::Eager, Schedule::Random { seed: 7 }, Schedule::Random { seed: u64::MAX }] {
        assert!(products::check(&Device::cpu(schedule), &products::SMALL[2..], 5).unwrap() > 30);
    }
}

#[test]
fn stages_of_products_are_given_back_unread() {
    for schedule in [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 3 }] {
        assert_eq!(products::check_some_stages(&Device::cpu(schedule)).unwrap(), 12 * 3);
    }
}

#[test]
fn memory_of_a_product_that_a_role_left_is_another_products() {
    for schedule in [Schedule::Eager, Schedule::Lazy, Schedule::Random { seed: 4 }, Schedule::Random { seed: 5 }] {
        assert_eq!(products::check_left_early(&Device::cpu(schedule)).unwrap(), 9 * 5);
    }
}

#[test]
fn warpgroups_that_run_apart_multiply_each_its_own_stages() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 1 }, Schedule::Random { seed: 2 }] {
        assert_eq!(products::apart::check(&Device::cpu(schedule)).unwrap(), 6 * 7 * 2);
    }
}

#[test]
fn products_of_random_shapes_and_epilogues_are_those_of_plain_loops() {
    let device = Device::cpu(Schedule::Random { seed: 5 });
    assert_eq!(products::shapes::check(&device, 48, 300, 1).unwrap(), 48);
    products::shapes::check_errors(&device).unwrap();
}

#[test]
fn products_in_a_row_have_what_the_ones_before_have_written() {
    let device = Device::cpu(Schedule::Random { seed: 6 });
    assert_eq!(products::in_a_row::check(&device, &[40, 136], 2).unwrap(), 2 * 3 * (2 + 3));
}

#[test]
fn roles_with_registers_of_their_own_multiply_two_tiles_at_once() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 9 }] {
        assert_eq!(products::check_two_at_once(&Device::cpu(schedule)).unwrap(), 5);
    }
}

#[test]
fn attention_is_that_of_sums_in_f64() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 12 }] {
        assert_eq!(products::attention::check(&Device::cpu(schedule), &products::attention::SMALL).unwrap(), 96);
    }
    let device = Device::cpu(Schedule::Random { seed: 14 });
    assert_eq!(products::attention::check(&device, &products::attention::SHAPED).unwrap(), 16);
}

#[test]
fn attention_of_packed_sequences_is_that_of_each() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 17 }] {
        assert_eq!(products::packed::check(&Device::cpu(schedule), &products::packed::small()).unwrap(), 36);
    }
}

#[test]
fn attention_of_any_shape_is_that_of_sums_in_f64() {
    let device = Device::cpu(Schedule::Random { seed: 18 });
    assert_eq!(products::drawn::check(&device, 40, 60, 3).unwrap(), 14);
}

#[test]
fn the_gradient_of_attention_is_that_of_sums_in_f64() {
    let device = Device::cpu(Schedule::Lazy);
    assert_eq!(products::gradient::check(&device, &products::gradient::SMALL[..13]).unwrap(), 52);
    assert_eq!(products::gradient::check_low_scores(&device).unwrap(), 6);
}

/// A test of its own, as the next one: each takes minutes, and they run side by side.
#[test]
fn the_gradient_of_attention_with_large_heads_is_that_of_sums_in_f64() {
    assert_eq!(products::gradient::check(&Device::cpu(Schedule::Lazy), &products::gradient::SMALL[13..]).unwrap(), 24);
}

#[test]
fn the_gradient_of_attention_is_that_of_sums_in_f64_in_any_order() {
    let device = Device::cpu(Schedule::Random { seed: 15 });
    for cases in [4..9, 15..17] {
        let count = 4 * cases.len();
        assert_eq!(products::gradient::check(&device, &products::gradient::SMALL[cases]).unwrap(), count);
    }
    assert_eq!(products::gradient::check_low_scores(&device).unwrap(), 6);
}

#[test]
fn decoding_is_that_of_sums_in_f64() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 16 }] {
        assert_eq!(products::decoding::check(&Device::cpu(schedule), &products::decoding::SMALL).unwrap(), 32);
    }
}

#[test]
fn products_that_blocks_add_up_are_those_of_plain_loops() {
    for schedule in [Schedule::Lazy, Schedule::Eager, Schedule::Random { seed: 22 }] {
        assert_eq!(products::check_added_up(&Device::cpu(schedule)).unwrap(), 2 * 4);
    }
}

#[test]
fn products_in_shared_memory_are_factors_on_either_side() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 21 }] {
        assert_eq!(products::written::check(&Device::cpu(schedule)).unwrap(), 16 * 4);
    }
}

#[test]
fn products_are_factors_of_other_products() {
    for schedule in [Schedule::Lazy, Schedule::Eager, Schedule::Random { seed: 11 }] {
        assert_eq!(products::chained::check(&Device::cpu(schedule)).unwrap(), 20);
    }
}

#[test]
fn each_step_of_the_guides_product_multiplies() {
    assert_eq!(products::check_steps(&Device::cpu(Schedule::Random { seed: 10 })).unwrap(), 12);
}

#[test]
fn products_are_of_matrices_wherever_they_lie() {
    products::rows::check_parts_of_buffers(&Device::cpu(Schedule::Random { seed: 7 })).unwrap();
    products::rows::check_foreign_rows().unwrap();
}

#[test]
fn arrays_of_one_to_five_dimensions_are_what_plain_loops_make() {
    for schedule in [Schedule::Lazy, Schedule::Random { seed: 11 }] {
        assert!(dimensions::check(&Device::cpu(schedule)).unwrap() > 900);
    }
}

#[test]
fn boxes_that_begin_between_16_bytes_are_refused_with_both_numbers() {
    for (column, refused) in [(0, 0), (16, 0), (-16, 0), (8, 5), (-2, 15), (1, 20), (-15, 20)] {
        // After a refusal a device is lost.
        let answer = |instance| tensors::refusal(&Device::cpu(Schedule::Lazy), instance, column).unwrap();
        let answers: Vec<_> = box_anywhere::INSTANCES.iter().filter_map(answer).collect();
        assert_eq!(answers.len(), refused, "column {column}");
        for (error, wanted) in answers {
            assert!(matches!(&error, Error::KernelPanicked { message, .. } if *message == wanted), "{error:?}");
        }
    }
}

/// What the kernels of wide threads make of an input, as a plain loop: beyond the end of the data
/// there are zeros.
fn wide<T: Number>(input: &[T], len: usize) -> Vec<T> {
    let at = |index: usize| input.get(index).copied().unwrap_or(T::ZERO);
    let next = |index: usize| index / len * len + (index + 1) % len;
    (0..input.len()).map(|index| at(index).triple().plus(at(next(index)))).collect()
}

#[test]
fn kernels_of_wide_threads_write_what_a_plain_loop_makes() {
    let tiles_and_runs = [&wide_tiles::INSTANCES[..], &wide_runs::INSTANCES];
    let between_roles = [&wide_between_roles::INSTANCES[..], &elements_between_roles::INSTANCES];
    let others = [&wide_by_hand::INSTANCES[..], &wide_stored::INSTANCES];
    let instances = tiles_and_runs.into_iter().chain(between_roles).chain(others);
    for schedule in SCHEDULES {
        for instance in instances.clone().flatten() {
            match case::dtype_of(instance) {
                DType::U8 => writes_wide::<u8>(schedule, instance, |elements| case::random_bits(elements, 29)),
                DType::I32 => writes_wide::<i32>(schedule, instance, |elements| case::random_bits(elements, 29)),
                DType::I64 => writes_wide::<i64>(schedule, instance, |elements| case::random_bits(elements, 29)),
                // Not random bits: no NaN equals itself.
                DType::F64 => writes_wide(schedule, instance, |elements| (0..elements).map(small).collect()),
                DType::Complex => writes_wide(schedule, instance, |elements| {
                    (0..elements).map(|index| Complex { re: small(index) as f32, im: -(index as f32) }).collect()
                }),
                other => panic!("no data of type {other}"),
            }
        }
    }
}

/// A number that differs from those of the elements around.
fn small(index: usize) -> f64 {
    (index * 7 % 1000) as f64
}

/// Launches an instance over sizes around a tile's, and compares with the plain loop.
fn writes_wide<T: Number + Value + PartialEq>(
    schedule: Schedule,
    instance: &Instance,
    input_of: impl Fn(usize) -> Vec<T>,
) {
    let device = Device::cpu(schedule);
    let len: usize = instance.generic("LEN").unwrap().parse().unwrap();
    for elements in [1, 3, len - 1, len, len + 17, 5 * len - 2] {
        let input = input_of(elements);
        let (uploaded, mut out) = (device.upload(&input).unwrap(), device.zeroed::<T>(elements).unwrap());
        let arguments = [Bound::input(&uploaded), Bound::output(&mut out)];
        launch(&device.stream().unwrap(), 2, instance, arguments).unwrap();
        assert!(out.download().unwrap() == wide(&input, len), "{} of {elements}", instance.name());
    }
}

#[test]
fn wide_threads_triple_what_they_copied_themselves() {
    for schedule in SCHEDULES {
        for instance in wide_own::INSTANCES.iter().filter(|one| case::dtype_of(one) == DType::I32) {
            let input: Vec<i32> = case::random_bits(5000, 31);
            let device = Device::cpu(schedule);
            let (uploaded, mut out) = (device.upload(&input).unwrap(), device.zeroed::<i32>(input.len()).unwrap());
            let arguments = [Bound::input(&uploaded), Bound::output(&mut out)];
            launch(&device.stream().unwrap(), 2, instance, arguments).unwrap();
            let expected: Vec<i32> = input.into_iter().map(Number::triple).collect();
            assert!(out.download().unwrap() == expected, "{}", instance.name());
        }
    }
}

#[test]
fn collectives_of_blocks_are_what_plain_loops_make() {
    let device = Device::cpu(Schedule::Lazy);
    for instance in &collectives_of_blocks::INSTANCES {
        let threads = instance.threads() as usize;
        for elements in features::SIZES {
            let input: Vec<u32> = case::random_bits(elements, 17);
            let (uploaded, mut out) = (device.upload(&input).unwrap(), device.zeroed::<u32>(elements).unwrap());
            let arguments = [Bound::input(&uploaded), Bound::output(&mut out)];
            launch(&device.stream().unwrap(), 2, instance, arguments).unwrap();
            let expected: Vec<u32> =
                input.chunks(threads).flat_map(|tile| features::collectives_of_block(tile, threads)).collect();
            assert_eq!(out.download().unwrap(), expected, "{} of {elements}", instance.name());
        }
    }
}
