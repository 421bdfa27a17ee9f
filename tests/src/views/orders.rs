//! The kernels of `tilepipe_test_kernels::orders`, compared with plain loops.

use tilepipe_host::{Device, Error};
use tilepipe_test_kernels::orders::{
    EXTENTS, THREADS, boxes_in_a_row, in_a_row, in_a_row_by_hand, in_a_row_by_roles, in_a_row_stored, whole_rows,
};

use crate::case::random_bits;

/// Lengths: fewer tiles than blocks, as many, tiles that are whole and not.
const LENGTHS: [usize; 6] = [1, THREADS, 5 * THREADS, 5 * THREADS + 4, 13 * THREADS, 1000];
/// Rows and columns of matrices.
const MATRICES: [[usize; 2]; 4] = [[1, 4], [8, 64], [19, 36], [64, 128]];
/// Blocks of a launch.
const GRIDS: [u32; 3] = [1, 3, 7];

/// The block of tile `number` of `tiles`, where each of `grid` gets as many in a row as the others
/// or one more.
fn block_of(number: usize, tiles: usize, grid: usize) -> usize {
    let mut end = 0;
    (0..grid)
        .find(|block| {
            end += tiles / grid + usize::from(*block < tiles % grid);
            number < end
        })
        .expect("a block")
}

/// Checks all of them, and returns the number of launches.
///
/// # Errors
///
/// Those of the launches.
///
/// # Panics
///
/// If an element is wrong.
pub fn check(device: &Device, engines: bool) -> Result<usize, Error> {
    let mut launches = 0;
    for grid in GRIDS {
        for len in LENGTHS {
            launches += of_rows(device, grid, len, engines)?;
        }
        for [height, width] in MATRICES {
            launches += of_matrices(device, grid, height, width, engines)?;
        }
    }
    Ok(launches)
}

fn of_rows(device: &Device, grid: u32, len: usize, engines: bool) -> Result<usize, Error> {
    let (data, other) = (random_bits::<u32>(len, 3), random_bits::<u32>(len, 5));
    let (input, second) = (device.upload(&data)?, device.upload(&other)?);
    let stream = device.stream()?;
    let tiles = len.div_ceil(THREADS);
    let expected = |value: &dyn Fn(usize, u32, u32) -> u32| -> Vec<u32> {
        let one = |i| value(i, block_of(i / THREADS, tiles, grid as usize) as u32 + 1, (i / THREADS) as u32);
        (0..len).map(one).collect()
    };
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    in_a_row::launch(&stream, grid, &input, &second, &mut out)?;
    let sums = |i: usize, factor: u32, _| factor.wrapping_mul(data[i].wrapping_add(other[i]));
    assert_eq!(out.download()?, expected(&sums), "{len} of {grid} blocks");
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    in_a_row_by_hand::launch(&stream, grid, &input, &mut out)?;
    let numbered = |i: usize, factor: u32, number| factor.wrapping_mul(data[i]).wrapping_add(number);
    assert_eq!(out.download()?, expected(&numbered), "{len} of {grid} blocks by hand");
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    in_a_row_by_roles::launch(&stream, grid, &input, &mut out)?;
    let scaled = |i: usize, factor: u32, _| factor.wrapping_mul(data[i]);
    assert_eq!(out.download()?, expected(&scaled), "{len} of {grid} blocks by roles");
    if !engines {
        return Ok(3);
    }
    let mut out = device.filled_with_byte::<u32>(len, 0xEE)?;
    in_a_row_stored::launch(&stream, grid, &input, &mut out)?;
    assert_eq!(out.download()?, expected(&scaled), "{len} of {grid} blocks, stored");
    Ok(4)
}

fn of_matrices(device: &Device, grid: u32, height: usize, width: usize, engines: bool) -> Result<usize, Error> {
    let data = random_bits::<u32>(width * height, 7);
    let input = device.upload_2d(&data, width)?;
    let stream = device.stream()?;
    let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xEE)?;
    whole_rows::launch(&stream, grid, &input, &mut out)?;
    let value = |i: usize| {
        let row = i / width / EXTENTS[0];
        ((row % grid as usize) as u32 + 1).wrapping_mul(data[i]).wrapping_add(row as u32)
    };
    assert_eq!(out.download()?, (0..data.len()).map(value).collect::<Vec<_>>(), "{height} x {width} of {grid} blocks");
    if !engines {
        return Ok(1);
    }
    let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xEE)?;
    boxes_in_a_row::launch(&stream, grid, &input, &mut out)?;
    let (down, across) = (height.div_ceil(8), width.div_ceil(32));
    let value = |i: usize| {
        let number = i / width / 8 * across + i % width / 32;
        (block_of(number, down * across, grid as usize) as u32 + 1).wrapping_mul(data[i])
    };
    assert_eq!(out.download()?, (0..data.len()).map(value).collect::<Vec<_>>(), "{height} x {width}, boxes");
    Ok(2)
}
