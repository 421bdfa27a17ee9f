//! The kernels of `tilepipe_test_kernels::scratch`, compared with plain loops.

use tilepipe::Element;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::scratch::{
    LEN, less_the_least, less_the_least_of_a_role, sums_in_rounds, transposed_in_scratch, turned,
};

use crate::case::random_bits;

/// Lengths: tiles that are whole and not, and more tiles than blocks.
const LENGTHS: [usize; 4] = [1, LEN, 4 * LEN + 3, 1000];
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
    for len in LENGTHS {
        turns::<u8>(device, "u8", len)?;
        turns::<i16>(device, "i16", len)?;
        turns::<f32>(device, "f32", len)?;
        turns::<u64>(device, "u64", len)?;
        turns::<u128>(device, "u128", len)?;
        sums(device, len)?;
        least(device, len)?;
        launches += 8;
    }
    for [height, width] in [[1, 1], [32, 32], [40, 70], [100, 33]] {
        launches += transposes(device, height, width)?;
    }
    Ok(launches)
}

fn turns<T: Element>(device: &Device, name: &str, len: usize) -> Result<(), Error> {
    let instance = turned::INSTANCES.iter().find(|one| one.generic("T") == Some(name)).expect("an instance");
    let bits = random_bits::<u8>(len * size_of::<T>(), 19);
    let data: Vec<T> = bits.chunks(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    let uploaded = device.upload(&data)?;
    let mut out = device.filled_with_byte::<T>(len, 0xEE)?;
    launch(&device.stream()?, GRID, instance, [Bound::input(&uploaded), Bound::output(&mut out)])?;
    let element = |at: usize| {
        let first = at / LEN * LEN;
        data.get(first + (LEN - 1 - at % LEN).max(1)).copied().unwrap_or(data[first])
    };
    let (got, expected): (Vec<T>, Vec<T>) = (out.download()?, (0..len).map(element).collect());
    assert!(
        bytemuck::cast_slice::<_, u8>(&got) == bytemuck::cast_slice::<_, u8>(&expected),
        "{} of {len}",
        instance.name()
    );
    Ok(())
}

fn sums(device: &Device, len: usize) -> Result<(), Error> {
    let data = random_bits::<u32>(len, 23);
    let input = device.upload(&data)?;
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    sums_in_rounds::launch(&device.stream()?, GRID, &input, &mut out)?;
    let sums = data.chunks(LEN).flat_map(|tile| {
        tile.iter().scan(0_u32, |sum, value| {
            *sum = sum.wrapping_add(*value);
            Some(*sum)
        })
    });
    assert_eq!(out.download()?, sums.collect::<Vec<_>>(), "{len}");
    Ok(())
}

fn least(device: &Device, len: usize) -> Result<(), Error> {
    let data = random_bits::<u32>(len, 29);
    let input = device.upload(&data)?;
    // A partial tile is followed by zeros.
    let expected: Vec<u32> = data
        .chunks(256)
        .flat_map(|tile| {
            let least = if tile.len() < 256 { 0 } else { tile.iter().copied().min().unwrap_or(0) };
            tile.iter().map(move |value| value - least)
        })
        .collect();
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    less_the_least::launch(&device.stream()?, GRID, &input, &mut out)?;
    assert_eq!(out.download()?, expected, "{len}");
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    less_the_least_of_a_role::launch(&device.stream()?, GRID, &input, &mut out)?;
    assert_eq!(out.download()?, expected, "{len}, in a role");
    Ok(())
}

fn transposes(device: &Device, height: usize, width: usize) -> Result<usize, Error> {
    let data = random_bits::<u32>(width * height, 31);
    let input = device.upload_2d(&data, width)?;
    let expected: Vec<u32> = (0..width * height)
        .map(|at| {
            let (column, row) = (at / height, at % height);
            data[row * width + column].wrapping_mul(((row % 32 + 1) * (column % 32 + 1)) as u32)
        })
        .collect();
    for instance in &transposed_in_scratch::INSTANCES {
        let mut out = device.filled_with_byte_2d::<u32>(height, width, 0xEE)?;
        launch(&device.stream()?, GRID, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
        assert_eq!(out.download()?, expected, "{}: {height} x {width}", instance.name());
    }
    Ok(transposed_in_scratch::INSTANCES.len())
}
