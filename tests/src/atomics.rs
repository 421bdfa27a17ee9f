//! The kernels of `tilepipe_test_kernels::atomics`, compared with plain loops.

use std::fmt::Debug;

use tilepipe::Element;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::atomics::{
    PLACES, counted_by_parts_of_warps, counted_by_warps, counted_in_a_role, elements_in_bins, elements_reduced,
    read_in_between,
};

use crate::case::random_bits;

/// Lengths of inputs: one element, tiles that are whole and not, and more tiles than blocks.
const LENGTHS: [usize; 5] = [1, 39, 72, 500, 2011];
/// Blocks of a launch.
const GRID: u32 = 3;

/// Checks all of them, and returns the number of launches.
///
/// # Errors
///
/// Those of the launches.
///
/// # Panics
///
/// If an element is wrong.
pub fn check(device: &Device) -> Result<usize, Error> {
    let mut launches = 0;
    for instance in elements_reduced::INSTANCES.iter().chain(&elements_in_bins::INSTANCES) {
        for len in LENGTHS {
            of_operation(device, instance, len)?;
            launches += 1;
        }
    }
    launches += subnormal_sums(device)?;
    for len in LENGTHS {
        counts(device, len)?;
        launches += 3 + maxima(device, len)?;
    }
    Ok(launches)
}

type Combine<T> = fn(T, T) -> T;

fn of_operation(device: &Device, instance: &Instance, len: usize) -> Result<(), Error> {
    macro_rules! integers {
        ($integer:ty) => {{
            let combine: Combine<$integer> = match operation(instance) {
                "Add" => <$integer>::wrapping_add,
                "Min" => <$integer>::min,
                "Max" => <$integer>::max,
                "And" => |a, b| a & b,
                "Or" => |a, b| a | b,
                _ => |a, b| a ^ b,
            };
            reduces(device, instance, &random_bits::<$integer>(len, 3), &random_bits::<$integer>(PLACES, 5), combine)
        }};
    }
    // Sums of such numbers are exact, in whatever order.
    let small = |len, seed| random_bits::<u32>(len, seed).into_iter().map(|bits| (bits % 1000) as i32 - 500);
    match instance.generic("T").unwrap_or_default() {
        "u32" => integers!(u32),
        "i32" => integers!(i32),
        "u64" => integers!(u64),
        "i64" => integers!(i64),
        "f32" => {
            let of = |len, seed| small(len, seed).map(|number| number as f32 / 4.0).collect::<Vec<_>>();
            reduces(device, instance, &of(len, 3), &of(PLACES, 5), |a, b| a + b)
        }
        _ => {
            // Multiples of the least number above 0, which are kept.
            let of = |len, seed| small(len, seed).map(|n| f64::from(n) * f64::from_bits(1)).collect::<Vec<_>>();
            reduces(device, instance, &of(len, 3), &of(PLACES, 5), |a, b| a + b)
        }
    }
}

fn operation(instance: &Instance) -> &str {
    instance.generic("O").unwrap_or_default().rsplit("::").next().unwrap_or_default()
}

fn reduces<T: Element + PartialEq + Debug>(
    device: &Device,
    instance: &Instance,
    input: &[T],
    before: &[T],
    combine: Combine<T>,
) -> Result<(), Error> {
    let (uploaded, mut out) = (device.upload(input)?, device.upload(before)?);
    launch(&device.stream()?, GRID, instance, [Bound::input(&uploaded), Bound::reduction(&mut out)])?;
    let mut expected = before.to_vec();
    for (index, value) in input.iter().enumerate() {
        expected[index % PLACES] = combine(expected[index % PLACES], *value);
    }
    assert_eq!(out.download()?, expected, "{} of {}", instance.name(), input.len());
    Ok(())
}

/// Sums of `f32` count subnormal numbers as zeros of their sign in global memory, and keep them in
/// shared memory.
fn subnormal_sums(device: &Device) -> Result<usize, Error> {
    const M: f32 = f32::MIN_POSITIVE;
    const SMALL: f32 = f32::from_bits(5);
    /// What is there, what is added, and the sum.
    const IN_GLOBAL: [[f32; 3]; 8] = [
        [SMALL, 0.0, 0.0],
        [0.0, -SMALL, 0.0],
        [-0.0, -SMALL, -0.0],
        [-1.5 * M, M, -0.0],
        [1.5 * M, -M, 0.0],
        [0.75 * M, 0.75 * M, 0.0],
        [M, 0.5 * M, M],
        [1.5, 2.25, 3.75],
    ];
    let of_f32 = |instance: &&Instance| instance.generic("T") == Some("f32");
    let sums = |instance: &Instance, input: &[f32], before: &[f32]| {
        let (uploaded, mut out) = (device.upload(input)?, device.upload(before)?);
        launch(&device.stream()?, GRID, instance, [Bound::input(&uploaded), Bound::reduction(&mut out)])?;
        Ok::<_, Error>(out.download()?.into_iter().map(f32::to_bits).collect::<Vec<_>>())
    };
    let mut launches = 0;
    for instance in elements_reduced::INSTANCES.iter().filter(of_f32) {
        // One addend for each place, so that the order of threads changes nothing.
        let [before, input, expected] =
            [0, 1, 2].map(|part| (0..PLACES).map(|i| IN_GLOBAL[i % IN_GLOBAL.len()][part]).collect::<Vec<_>>());
        let expected: Vec<u32> = expected.into_iter().map(f32::to_bits).collect();
        assert_eq!(sums(instance, &input, &before)?, expected, "{}", instance.name());
        launches += 1;
    }
    for instance in elements_in_bins::INSTANCES.iter().filter(of_f32) {
        // The elements of the first tile, so that one block has both addends of a bin. The two
        // bins with one addend are added to global memory as they are.
        let two = instance.threads() as usize - PLACES;
        let input = vec![0.75 * M; instance.threads() as usize];
        let expected: Vec<u32> = (0..PLACES).map(|i| if i < two { 1.5 * M } else { 0.0 }.to_bits()).collect();
        assert_eq!(sums(instance, &input, &[0.0; PLACES])?, expected, "{}", instance.name());
        launches += 1;
    }
    Ok(launches)
}

fn counts(device: &Device, len: usize) -> Result<(), Error> {
    let input = random_bits::<u32>(len, 7);
    let mut expected = vec![0_u32; PLACES];
    for value in &input {
        expected[*value as usize % PLACES] += 1;
    }
    let (uploaded, stream) = (device.upload(&input)?, device.stream()?);
    for instance in counted_by_warps::INSTANCES.iter().chain(&counted_by_parts_of_warps::INSTANCES) {
        let mut out = device.zeroed::<u32>(PLACES)?;
        launch(&stream, GRID, instance, [Bound::input(&uploaded), Bound::reduction(&mut out)])?;
        assert_eq!(out.download()?, expected, "{} of {len}", instance.name());
    }
    // Part of a larger buffer: what lies around it stays as it is.
    let (mut by_bins, mut directly) = (device.upload(&[9_u32; PLACES + 2])?, device.zeroed::<u64>(PLACES)?);
    counted_in_a_role::launch(&stream, GRID, &uploaded, by_bins.slice_mut(1..PLACES + 1)?, &mut directly)?;
    let nine = expected.iter().map(|count| count + 9);
    assert_eq!(by_bins.download()?, [9].into_iter().chain(nine).chain([9]).collect::<Vec<_>>(), "{len}");
    assert_eq!(directly.download()?, expected.iter().map(|count| u64::from(*count)).collect::<Vec<_>>(), "{len}");
    Ok(())
}

fn maxima(device: &Device, len: usize) -> Result<usize, Error> {
    let input = random_bits::<u32>(len, 9);
    let of_tiles: u64 = input.chunks(64).filter_map(|tile| tile.iter().max()).map(|value| u64::from(*value)).sum();
    let all: u64 = input.iter().map(|value| u64::from(*value)).sum();
    let uploaded = device.upload(&input)?;
    for instance in &read_in_between::INSTANCES {
        let mut out = device.zeroed::<u64>(2)?;
        launch(&device.stream()?, GRID, instance, [Bound::input(&uploaded), Bound::reduction(&mut out)])?;
        // The second bins are maxima, too: of ones.
        assert_eq!(out.download()?, [of_tiles, all], "{} of {len}", instance.name());
    }
    Ok(read_in_between::INSTANCES.len())
}
