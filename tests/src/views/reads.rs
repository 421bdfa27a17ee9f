//! The kernels of `tilepipe_test_kernels::reads`, compared with plain loops.

use tilepipe::Element;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::reads::{THREADS, columns_read, corners_added, gathered, ranked};

use crate::case::random_bits;

/// Lengths of outputs: one element, tiles that are whole and not, and more tiles than blocks.
const LENGTHS: [usize; 5] = [1, THREADS - 1, THREADS, 5 * THREADS + 3, 1000];
/// Rows and columns of matrices.
const EXTENTS: [[usize; 2]; 5] = [[1, 1], [8, 8], [3, 21], [17, 5], [40, 33]];
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
        launches += gathers::<u8>(device, "u8", len)? + gathers::<i16>(device, "i16", len)?;
        launches += gathers::<f32>(device, "f32", len)? + gathers::<u64>(device, "u64", len)?;
        launches += gathers::<u128>(device, "u128", len)?;
        for keys in [1, 2, 64, 777] {
            ranks(device, len, keys)?;
            launches += 1;
        }
    }
    for [height, width] in EXTENTS {
        matrices(device, height, width)?;
        launches += 2;
    }
    Ok(launches)
}

fn gathers<T: Element>(device: &Device, name: &str, len: usize) -> Result<usize, Error> {
    let instance = gathered::INSTANCES.iter().find(|one| one.generic("T") == Some(name)).expect("an instance");
    let bits = random_bits::<u8>(300 * size_of::<T>(), 3);
    let table: Vec<T> = bits.chunks(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    let indices: Vec<u32> = random_bits::<u32>(len, 5).into_iter().map(|bits| bits % 300).collect();
    let (uploaded, values) = (device.upload(&indices)?, device.upload(&table)?);
    let mut out = device.filled_with_byte::<T>(len, 0xEE)?;
    launch(
        &device.stream()?,
        GRID,
        instance,
        [Bound::input(&uploaded), Bound::input(&values), Bound::output(&mut out)],
    )?;
    let expected: Vec<T> = indices.iter().map(|index| table[*index as usize]).collect();
    let (got, expected): (Vec<T>, &[u8]) = (out.download()?, bytemuck::cast_slice(&expected));
    assert!(bytemuck::cast_slice::<T, u8>(&got) == expected, "{} of {len}", instance.name());
    Ok(1)
}

fn ranks(device: &Device, len: usize, keys: usize) -> Result<(), Error> {
    let of = |len, seed| random_bits::<u32>(len, seed).into_iter().map(|bits| bits % 1000);
    let mut sorted: Vec<u32> = of(keys, 7).collect();
    sorted.sort_unstable();
    let values: Vec<u32> = of(len, 9).collect();
    let (uploaded, keys) = (device.upload(&values)?, device.upload(&sorted)?);
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    ranked::launch(&device.stream()?, GRID, &uploaded, &keys, &mut out)?;
    let expected: Vec<u32> = values.iter().map(|value| sorted.partition_point(|key| key < value) as u32).collect();
    assert_eq!(out.download()?, expected, "{len} values");
    Ok(())
}

fn matrices(device: &Device, height: usize, width: usize) -> Result<(), Error> {
    let data = random_bits::<u32>(width * height, 11);
    let input = device.upload_2d(&data, width)?;
    // One row and one column more than the input has.
    let mut turned = device.filled_with_byte_2d::<u32>(height + 1, width + 1, 0xEE)?;
    columns_read::launch(&device.stream()?, GRID, &input, &mut turned)?;
    let at = |row: usize, column: usize| if row < height && column < width { data[row * width + column] } else { 7 };
    let expected: Vec<u32> = (0..(width + 1) * (height + 1)).map(|i| at(i % (height + 1), i / (height + 1))).collect();
    assert_eq!(turned.download()?, expected, "{height} x {width}");
    let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xEE)?;
    corners_added::launch(&device.stream()?, GRID, &input, &mut out)?;
    let corners = [(0, 0), (0, width - 1), (height - 1, 0), (height - 1, width - 1)];
    let sum = corners.iter().fold(0_u32, |sum, (row, column)| sum.wrapping_add(at(*row, *column)));
    let expected: Vec<u32> = data.iter().map(|value| value.wrapping_add(sum)).collect();
    assert_eq!(out.download()?, expected, "{height} x {width}");
    Ok(())
}
