//! Constants: what is passed of them is what they were at the launch.

use tilepipe_host::{Device, Error};
use tilepipe_test_kernels::parameters::constants::{
    MOST, Scene, TABLE, WIDTH, addresses_of_constants, filtered, full, lines_of_roles, looked_up, of_a_scene,
    of_either, weighted,
};
use tilepipe_test_kernels::parameters::{Line, THREADS, height};

use super::{GRID, LEN};
use crate::case::random_bits;

pub(super) fn check(device: &Device) -> Result<usize, Error> {
    filters(device)?;
    tables(device)?;
    roles(device)?;
    choices(device)?;
    scenes(device)?;
    addresses(device)?;
    Ok(8 + 2 + 1 + 1 + 1 + 1)
}

/// Launches follow one another without waiting; the caller's filter changes in between.
fn filters(device: &Device) -> Result<(), Error> {
    let data: Vec<u32> = random_bits(LEN, 1);
    let (stream, input) = (device.stream()?, device.upload(&data)?);
    let mut filter = [0_u32; WIDTH];
    let mut all = Vec::new();
    for round in 0..8_u32 {
        filter.iter_mut().zip(round * 9..).for_each(|(weight, new)| *weight = new.wrapping_mul(0x9E37_79B9));
        let mut out = device.filled_with_byte::<u32>(LEN, 0xEE)?;
        filtered::launch(&stream, GRID, &input, &filter, &mut out)?;
        all.push((filter, out));
        filter = [0xDEAD_BEEF; WIDTH];
    }
    for (filter, out) in all {
        let at = |i: usize| data.get(i).copied().unwrap_or(0);
        let term = |i: usize, k: usize| filter[k].wrapping_mul(at(i + k));
        let expected: Vec<u32> =
            (0..LEN).map(|i| (0..WIDTH).fold(0_u32, |sum, k| sum.wrapping_add(term(i, k)))).collect();
        assert_eq!(out.download()?, expected);
    }
    Ok(())
}

fn tables(device: &Device) -> Result<(), Error> {
    let (indices, table): (Vec<u32>, Vec<u32>) = (random_bits(LEN, 2), random_bits(TABLE, 3));
    let table: [u32; TABLE] = table.try_into().expect("so many");
    let (input, mut out) = (device.upload(&indices)?, device.filled_with_byte::<u32>(LEN, 0xEE)?);
    looked_up::launch(&device.stream()?, GRID, &input, &table, &mut out)?;
    let expected: Vec<u32> = indices.iter().map(|index| table[*index as usize % TABLE]).collect();
    assert_eq!(out.download()?, expected);

    let table: Vec<u32> = random_bits(MOST, 4);
    let mut out = device.filled_with_byte::<u32>(MOST, 0xEE)?;
    let all: &[u32; MOST] = table.as_slice().try_into().expect("so many");
    full::launch(&device.stream()?, GRID, true, all, &mut out)?;
    let expected: Vec<u32> = table.iter().zip(0..).map(|(element, place)| element.wrapping_sub(place)).collect();
    assert_eq!(out.download()?, expected);
    Ok(())
}

fn four_lines() -> [Line; 4] {
    [0, 1, 2, 3].map(|i: u32| Line {
        slope: 3.0 + i as f32,
        offset: 1000 * i,
        first: i as u16,
        shift: i as u8,
        unused: 0,
        limit: 1 << 30,
    })
}

/// A struct of more bytes than are passed as they are.
fn scenes(device: &Device) -> Result<(), Error> {
    let scene = Scene { lines: four_lines(), weights: [1, 10, 100, 0xFFFF_FFF0], base: u64::MAX - 50_000 };
    assert_eq!(size_of_val(&scene), 88);
    let mut out = device.filled_with_byte::<u64>(LEN, 0xEE)?;
    of_a_scene::launch(&device.stream()?, GRID, &scene, &mut out)?;
    assert_eq!(out.download()?, (0..LEN).map(|place| weighted(&scene, place)).collect::<Vec<_>>());
    Ok(())
}

fn roles(device: &Device) -> Result<(), Error> {
    let lines = four_lines();
    let [mut low, mut high] = [device.filled_with_byte::<u32>(96, 0xEE)?, device.filled_with_byte::<u32>(96, 0xEE)?];
    lines_of_roles::launch(&device.stream()?, 1, &lines, &6, &mut low, &mut high)?;
    for (out, first, step) in [(low, 0, 1), (high, 2, 2)] {
        let at = |i: usize| {
            let (tile, rank) = (i / 32, i % 32);
            height(lines[first + rank % 2], 0, 0, rank).wrapping_add(height(lines[2], step, 0, tile))
        };
        assert_eq!(out.download()?, (0..96).map(at).collect::<Vec<_>>());
    }
    Ok(())
}

fn choices(device: &Device) -> Result<(), Error> {
    let tables: [[u32; TABLE]; 2] = [5, 6].map(|seed| random_bits(TABLE, seed).try_into().expect("so many"));
    let mut out = device.filled_with_byte::<u32>(LEN, 0xEE)?;
    of_either::launch(&device.stream()?, GRID, &tables[0], &tables[1], &mut out)?;
    let at = |i: usize| {
        let (tile, rank) = (i / THREADS, i % THREADS);
        let (block, nth) = (tile % GRID as usize, tile / GRID as usize);
        tables[block % 2][(rank + nth) % TABLE]
    };
    assert_eq!(out.download()?, (0..LEN).map(at).collect::<Vec<_>>());
    Ok(())
}

fn addresses(device: &Device) -> Result<(), Error> {
    let mut out = device.zeroed::<u64>(LEN)?;
    addresses_of_constants::launch(&device.stream()?, GRID, &[7; TABLE], &mut out)?;
    let all = out.download()?;
    assert!(all[0] != 0 && all.iter().all(|address| *address == all[0]), "{all:x?}");
    Ok(())
}
