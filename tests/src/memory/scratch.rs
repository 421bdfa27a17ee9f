//! The kernels of `tilepipe_test_kernels::scratch`, compared with plain loops.

use tilepipe::Element;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::scratch::{
    LEN, OF_A_WARP, ROUNDS, above_the_rows_least, computed_from_the_held, less_the_least, less_the_least_of_a_role,
    sums_in_rounds, tiles_of_warps, transposed_in_scratch, turned, turned_in_a_ring,
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
        warps(device, len)?;
        launches += 5 + 4 * 3 + 3 + tiles_of_warps::INSTANCES.len();
    }
    for [height, width] in [[1, 1], [32, 32], [40, 70], [100, 33]] {
        launches += transposes(device, height, width)?;
        from_the_held(device, height, width)?;
        launches += 1;
    }
    for [height, width] in [[1, 256], [3, 512], [100, 256]] {
        launches += rows(device, height, width)?;
    }
    Ok(launches)
}

/// The kernel that computes one tile again and again and, for some types, the one with a ring.
fn turns<T: Element>(device: &Device, name: &str, len: usize) -> Result<(), Error> {
    let of_type = |one: &&Instance| one.generic("T") == Some(name);
    for instance in turned::INSTANCES.iter().chain(&turned_in_a_ring::INSTANCES).filter(of_type) {
        turns_by::<T>(device, instance, len)?;
    }
    Ok(())
}

fn turns_by<T: Element>(device: &Device, instance: &Instance, len: usize) -> Result<(), Error> {
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

fn warps(device: &Device, len: usize) -> Result<(), Error> {
    let data = random_bits::<u32>(len, 37);
    let input = device.upload(&data)?;
    // Each 96 elements of the result are those of three warps.
    let number = len.div_ceil(ROUNDS * OF_A_WARP).div_ceil(3) * 3;
    let of_warp = |warp: usize| {
        let element = |at: usize| data.get(ROUNDS * OF_A_WARP * warp + at).copied().unwrap_or(1);
        let of_lane = |lane: usize| {
            let turn = |sum: u32, round| sum.wrapping_mul(3).wrapping_add(element((round + 1) * OF_A_WARP - 1 - lane));
            (0..ROUNDS).fold(0, turn).wrapping_mul(lane as u32 + 1)
        };
        let sum = (0..32).map(of_lane).fold(0, u32::wrapping_add);
        (0..32).map(move |lane| {
            let e = (OF_A_WARP - 1 - lane) as u32;
            sum.wrapping_add(e).wrapping_mul(e + 1)
        })
    };
    let expected: Vec<u32> = (0..number).flat_map(of_warp).collect();
    for instance in &tiles_of_warps::INSTANCES {
        let mut out = device.filled_with_byte::<u32>(expected.len(), 0xEE)?;
        launch(&device.stream()?, GRID, instance, [Bound::input(&input), Bound::output(&mut out)])?;
        assert_eq!(out.download()?, expected, "{}: {len}", instance.name());
    }
    Ok(())
}

fn from_the_held(device: &Device, height: usize, width: usize) -> Result<(), Error> {
    const TILE: [usize; 2] = [16, 32];
    let data = random_bits::<u32>(width * height, 41);
    let input = device.upload_2d(&data, width)?;
    let mut expected = vec![0; width * height];
    let across = width.div_ceil(TILE[1]);
    let tiles = height.div_ceil(TILE[0]) * across;
    for block in 0..GRID as usize {
        let mut before: Option<Vec<u32>> = None;
        for number in (block..tiles).step_by(GRID as usize) {
            let [top, left] = [number / across * TILE[0], number % across * TILE[1]];
            let element = |e: usize| {
                let [row, column] = [top + e / TILE[1], left + e % TILE[1]];
                if row < height && column < width { data[row * width + column] } else { 7 }
            };
            let added = before.map_or(0, |tile: Vec<u32>| tile[0].wrapping_add(tile[TILE[0] * TILE[1] - 1]));
            let tile: Vec<u32> = (0..TILE[0] * TILE[1]).map(|e| element(e).wrapping_add(added)).collect();
            for row in 0..TILE[0].min(height - top) {
                for column in 0..TILE[1].min(width - left) {
                    expected[(top + row) * width + left + column] =
                        tile[column % 16 * TILE[1] + column / 16 * 16 + row];
                }
            }
            before = Some(tile);
        }
    }
    let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xEE)?;
    computed_from_the_held::launch(&device.stream()?, GRID, &input, &mut out)?;
    let wrong = out.download()?.iter().zip(&expected).position(|(got, expected)| got != expected);
    assert_eq!(wrong, None, "{height} x {width}: the first element that is wrong");
    Ok(())
}

fn rows(device: &Device, height: usize, width: usize) -> Result<usize, Error> {
    let data = random_bits::<u32>(width * height, 43);
    let input = device.upload_2d(&data, width)?;
    for instance in &above_the_rows_least::INSTANCES {
        let columns: usize = instance.generic("COLUMNS").and_then(|columns| columns.parse().ok()).expect("a number");
        let above_the_least = |part: &[u32]| {
            let least = part.iter().copied().min().unwrap_or(0);
            part.iter().map(|value| value - least).collect::<Vec<_>>()
        };
        let expected: Vec<u32> = data.chunks(columns).flat_map(above_the_least).collect();
        let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xEE)?;
        launch(&device.stream()?, GRID, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
        assert_eq!(out.download()?, expected, "{}: {height} x {width}", instance.name());
    }
    Ok(above_the_rows_least::INSTANCES.len())
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
