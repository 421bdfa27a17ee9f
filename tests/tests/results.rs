//! Every instance of every kernel on the CPU, under every schedule and at every kind of size, against a plain loop.

use tilepipe::cpu::Schedule;
use tilepipe_host::Device;
use tilepipe_runner::reference::{self, Reference};
use tilepipe_runner::value::Value;
use tilepipe_tests::case::{self, ForType, Group, Oracle, SCHEDULES};

/// Checks all instances of a kernel, and returns how many there were.
fn every_instance_is_right(kernel: &str) -> usize {
    let groups = case::groups(kernel);
    for schedule in SCHEDULES {
        let device = Device::cpu(schedule);
        for group in &groups {
            for size in case::small_sizes(group.threads) {
                case::check_group(&device, group, size);
            }
        }
    }
    groups.iter().map(|group| group.instances.len()).sum()
}

#[test]
fn without_memcpy_async_is_right_at_every_size_under_every_schedule() {
    assert_eq!(every_instance_is_right("without_memcpy_async"), 6 * 4);
}

#[test]
fn with_single_stage_is_right_at_every_size_under_every_schedule() {
    assert_eq!(every_instance_is_right("with_single_stage"), 6 * 4);
}

#[test]
fn with_staging_is_right_at_every_size_under_every_schedule() {
    assert_eq!(every_instance_is_right("with_staging"), 6 * 4);
}

#[test]
fn with_staging_unified_is_right_at_every_size_under_every_schedule() {
    assert_eq!(every_instance_is_right("with_staging_unified"), 6 * 4 * 8 + 1);
}

#[test]
fn moving_average_is_right_at_every_size_under_every_schedule() {
    assert_eq!(every_instance_is_right("moving_average"), 6 * 4 * 8);
}

#[test]
fn the_registry_has_no_kernel_that_is_not_tested_here() {
    let mut kernels: Vec<_> =
        tilepipe_kernels::registry().into_iter().flatten().map(|instance| instance.kernel()).collect();
    kernels.dedup();
    let tested =
        ["without_memcpy_async", "with_single_stage", "with_staging", "with_staging_unified", "moving_average"];
    assert_eq!(kernels, tested);
}

/// Runs a group's instances on elements of random bits.
struct RandomBits<'a>(&'a Group);

impl ForType for RandomBits<'_> {
    fn call<T: Value>(self) {
        let elements = 5 * self.0.threads + 7;
        let input = case::random_bits::<T>(elements, 11);
        let expected = self.0.oracle.compute(&input);
        let device = Device::cpu(Schedule::Random { seed: 5 });
        let stream = device.stream().unwrap();
        let input = device.upload(&input).unwrap();
        for instance in &self.0.instances {
            let got = case::run(&stream, instance, 2, &input).unwrap();
            assert_eq!(reference::compare(&got, &expected), None, "{}", instance.symbol());
        }
    }
}

#[test]
fn infinities_nans_and_subnormals_are_computed_as_by_the_plain_loop() {
    for kernel in ["with_staging_unified", "moving_average"] {
        for mut group in case::groups(kernel) {
            group.instances.truncate(3);
            case::with_type(group.dtype, RandomBits(&group));
        }
    }
}

/// The oracles themselves, on paper: a wrong one would excuse a wrong kernel.
#[test]
fn the_oracles_agree_with_examples_worked_out_by_hand() {
    let input = [1, 10, 100, 2, 20];
    let neighbours = Oracle::Runner(Reference::NeighbourSum { tile: 3 });
    assert_eq!(neighbours.compute(&input), [13, 130, 301, 26, 60]);
    assert_eq!(Oracle::Reverse(3).compute(&input), [100, 10, 1, 0, 20]);
    let average = Oracle::Runner(Reference::MovingAverage);
    assert_eq!(average.compute(&[17, 34]), [3, 3]);
}
