//! The kernels of `tilepipe_test_kernels::atomics`, compared with plain loops.

use std::fmt::Debug;

use tilepipe::launch::Instance;
use tilepipe::{Element, f16};
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
/// The least `f16` above 0.
const LEAST: f32 = 1.0 / (1 << 24) as f32;

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
    launches += subnormal_sums(device)? + sums_of_halves(device)?;
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
        "f64" => {
            // Multiples of the least number above 0, which are kept.
            let of = |len, seed| small(len, seed).map(|n| f64::from(n) * f64::from_bits(1)).collect::<Vec<_>>();
            reduces(device, instance, &of(len, 3), &of(PLACES, 5), |a, b| a + b)
        }
        "f16" => {
            // Likewise. A place has 56 addends at most: 2048 times the least number is beyond them.
            let of = |len, seed| small(len, seed).map(|n| f16::from_f32((n % 36) as f32 * LEAST)).collect::<Vec<_>>();
            reduces(device, instance, &of(len, 3), &of(PLACES, 5), |a, b| a + b)
        }
        other => panic!("no reference for {other}"),
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

/// Sums of `f16` are rounded once, to nearest even, and keep subnormal numbers, in global and in
/// shared memory. What lies around a part of a buffer stays as it is.
fn sums_of_halves(device: &Device) -> Result<usize, Error> {
    /// What is there, what is added, and the sum.
    const SUMS: [[f32; 3]; 12] = [
        [1.5, 2.25, 3.75],
        [2048.0, 1.0, 2048.0],
        [2048.0, 3.0, 2052.0],
        [-4096.0, 2.0, -4094.0],
        [65504.0, 15.0, 65504.0],
        [65504.0, 16.0, f32::INFINITY],
        [65504.0, LEAST, 65504.0],
        [LEAST, LEAST, 2.0 * LEAST],
        [1024.0 * LEAST, -LEAST, 1023.0 * LEAST],
        [3.0 * LEAST, -3.0 * LEAST, 0.0],
        [0.0, -LEAST, -LEAST],
        [-0.0, -0.0, -0.0],
    ];
    let halves = |part: usize| (0..PLACES).map(|i| f16::from_f32(SUMS[i % SUMS.len()][part])).collect::<Vec<_>>();
    let [first, second, sums] = [0, 1, 2].map(halves);
    let of_f16 = |instance: &&Instance| instance.generic("T") == Some("f16");
    let launched = |instance: &Instance, input: &[f16], before: &[f16], around: usize| {
        let whole = [&vec![f16::ONE; around], before, &vec![f16::ONE; around]].concat();
        let (uploaded, mut out) = (device.upload(input)?, device.upload(&whole)?);
        let part = Bound::reduction_slice(out.slice_mut(around..around + PLACES)?);
        launch(&device.stream()?, GRID, instance, [Bound::input(&uploaded), part])?;
        let mut before = out.download()?;
        let after = before.split_off(around + PLACES);
        let part = before.split_off(around);
        let kept = vec![f16::ONE; around];
        assert_eq!((before, after), (kept.clone(), kept), "{}", instance.name());
        Ok::<_, Error>(part.into_iter().map(f16::to_bits).collect::<Vec<_>>())
    };
    let bits = |halves: &[f16]| halves.iter().map(|half| half.to_bits()).collect::<Vec<_>>();
    let mut launches = 0;
    // An add may touch the 4 bytes that its element lies in. With one element around the part, its
    // first one shares them with what lies before; with two, its last one with what lies behind.
    for around in [1, 2] {
        for instance in elements_reduced::INSTANCES.iter().filter(of_f16) {
            // One addend for each place, so that the order of threads changes nothing.
            assert_eq!(launched(instance, &second, &first, around)?, bits(&sums), "{}", instance.name());
            launches += 1;
        }
        for instance in elements_in_bins::INSTANCES.iter().filter(of_f16) {
            // Both addends of a bin come in the first tile, so from one block, but for the last
            // bins, which have one.
            let two = instance.threads() as usize - PLACES;
            let input = [&first[..], &second[..two]].concat();
            // A bin begins with 0, as what it is added to does: no sum of them is -0.
            let sum = |i: usize| if i < two { sums[i] } else { first[i] };
            let expected: Vec<f16> =
                (0..PLACES).map(|i| if sum(i) == f16::ZERO { f16::ZERO } else { sum(i) }).collect();
            let found = launched(instance, &input, &[f16::ZERO; PLACES], around)?;
            assert_eq!(found, bits(&expected), "{}", instance.name());
            launches += 1;
        }
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
