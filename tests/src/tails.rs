//! The kernels of `tilepipe_test_kernels::tails` over views that end anywhere, compared with plain
//! loops.

use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_runner::data::POISON;
use tilepipe_runner::value::{DType, Value};
use tilepipe_test_kernels::tails::{self, COLUMNS, HALO, LEN, ROWS, TRIPLES, mixed};

use crate::case::{dtype_of, random_bits};

/// The most elements of a view of one row: four tiles.
pub const MOST: usize = 4 * LEN;
/// The most elements of a view of triples: four tiles.
pub const MOST_TRIPLES: usize = 4 * TRIPLES;
/// The most columns of a view of rows: four tiles.
pub const MOST_COLUMNS: usize = 4 * COLUMNS;
/// The heights of the views of rows: less than a tile, one tile, and tiles of which the last has
/// one row.
pub const HEIGHTS: [usize; 3] = [1, ROWS, 2 * ROWS + 1];
/// Blocks of the launches: one, which has all tiles, and three.
const GRIDS: [u32; 2] = [1, 3];

/// An element of one row; zero beyond its ends.
fn at(row: &[u8], index: isize) -> u8 {
    usize::try_from(index).ok().and_then(|index| row.get(index)).copied().unwrap_or(0)
}

/// What each element becomes with the one of `other` at the mirrored place of its tile.
fn mirrored(row: &[u8], other: &[u8]) -> Vec<u8> {
    let mirror = |index: usize| index / LEN * LEN + (LEN - 1 - index % LEN);
    (0..row.len()).map(|index| mixed(row[index], at(other, mirror(index) as isize))).collect()
}

/// What each element becomes with halos.
fn with_halos(row: &[u8]) -> Vec<u8> {
    let far = HALO as isize;
    (0..row.len() as isize).map(|index| mixed(at(row, index - far), at(row, index + far))).collect()
}

/// What each element of rows becomes.
fn of_rows(rows: &[u8], width: usize) -> Vec<u8> {
    let height = rows.len() / width;
    let place = |index: usize, size: usize| index / size * size + (size - 1 - index % size);
    let mix = |index: usize| {
        let (row, column) = (place(index / width, ROWS), place(index % width, COLUMNS));
        let other = if row < height && column < width { rows[row * width + column] } else { 0 };
        mixed(rows[index], other)
    };
    (0..rows.len()).map(mix).collect()
}

/// What each element of rows becomes with halos.
fn of_rows_with_halos(rows: &[u8], width: usize) -> Vec<u8> {
    let far = HALO as isize;
    let neighbour = |row: isize, column: isize| match usize::try_from(row) {
        Ok(row) => rows.chunks(width).nth(row).map_or(0, |row| at(row, column)),
        Err(_) => 0,
    };
    let mix = |index: usize| {
        let (row, column) = ((index / width) as isize, (index % width) as isize);
        mixed(neighbour(row - 1, column - far), neighbour(row + 2, column + far))
    };
    (0..rows.len()).map(mix).collect()
}

/// The instances whose input is one row of bytes.
fn of_one_row() -> impl Iterator<Item = &'static Instance> {
    let kernels = [
        &tails::tails_driven::INSTANCES[..],
        &tails::tails_stored::INSTANCES,
        &tails::tails_stored_as_loaded::INSTANCES,
        &tails::tails_stored_again::INSTANCES,
        &tails::tails_stored_between_roles::INSTANCES,
        &tails::tails_by_hand::INSTANCES,
        &tails::tails_between_roles::INSTANCES,
        &tails::tails_between_halves::INSTANCES,
        &tails::tails_of_warps::INSTANCES,
        &tails::tails_with_halos::INSTANCES,
        &tails::tails_in_pairs::INSTANCES,
    ];
    kernels.into_iter().flatten()
}

/// Checks what the kernels write for views of one row of each of these lengths, and returns the
/// number of launches.
///
/// # Errors
///
/// Those of the launches.
///
/// # Panics
///
/// If an element is wrong: with the launch.
pub fn check_lengths(device: &Device, lengths: impl IntoIterator<Item = usize>) -> Result<usize, Error> {
    let (stream, mut launches) = (device.stream()?, 0);
    for elements in lengths {
        let (row, wide) = (random_bits::<u8>(elements, 41), random_bits::<i16>(elements, 43));
        let wide: &[u16] = bytemuck::cast_slice(&wide);
        let upper: Vec<u8> = wide.iter().map(|number| (number >> 8) as u8).collect();
        let (input, second) = (device.upload(&row)?, device.upload(wide)?);
        let expected = [mirrored(&row, &row), with_halos(&row), mirrored(&row, &upper)];
        for (instance, grid) in of_one_row().flat_map(|one| GRIDS.map(|grid| (one, grid))) {
            let inputs = if instance.kernel() == "tails_in_pairs" {
                vec![Bound::input(&input), Bound::input(&second)]
            } else {
                vec![Bound::input(&input)]
            };
            let expected = match instance.kernel() {
                "tails_with_halos" => &expected[1],
                "tails_in_pairs" => &expected[2],
                "tails_stored_as_loaded" => &row,
                _ => &expected[0],
            };
            let mut out = device.filled_with_byte::<u8>(elements, POISON)?;
            let arguments = inputs.into_iter().chain([Bound::output(&mut out)]).collect::<Vec<_>>();
            launch(&stream, grid, instance, arguments)?;
            compare(&out.download()?, expected, instance, &format!("{elements} elements in {grid} blocks"));
            launches += 1;
        }
    }
    Ok(launches)
}

/// The same for views of these numbers of elements of three numbers each.
///
/// # Errors
///
/// As for [`check_lengths`].
///
/// # Panics
///
/// As for [`check_lengths`].
pub fn check_triples(device: &Device, lengths: impl IntoIterator<Item = usize>) -> Result<usize, Error> {
    let mut launches = 0;
    for elements in lengths {
        for (instance, grid) in tails::tails_of_triples::INSTANCES.iter().flat_map(|one| GRIDS.map(|grid| (one, grid)))
        {
            match dtype_of(instance) {
                DType::U8 => check_triples_of::<u8>(device, instance, elements, grid)?,
                _ => check_triples_of::<u32>(device, instance, elements, grid)?,
            }
            launches += 1;
        }
    }
    Ok(launches)
}

fn check_triples_of<T: Value>(device: &Device, instance: &Instance, elements: usize, grid: u32) -> Result<(), Error> {
    let numbers = random_bits::<T>(3 * elements, 53);
    let row: Vec<[T; 3]> = numbers.chunks(3).map(|three| [three[0], three[1], three[2]]).collect();
    let place = |index: usize| index / TRIPLES * TRIPLES + (TRIPLES - 1 - index % TRIPLES);
    let mix = |index: usize| {
        let other = row.get(place(index)).copied().unwrap_or([T::zero(); 3]);
        [0, 1, 2].map(|number| row[index][number].triple().plus(other[2 - number]))
    };
    let expected: Vec<[T; 3]> = (0..elements).map(mix).collect();
    let (input, mut out) = (device.upload(&row)?, device.filled_with_byte::<[T; 3]>(elements, POISON)?);
    launch(&device.stream()?, grid, instance, [Bound::input(&input), Bound::output(&mut out)])?;
    let size = format!("{elements} elements in {grid} blocks");
    compare(bytemuck::cast_slice(&out.download()?), bytemuck::cast_slice(&expected), instance, &size);
    Ok(())
}

/// The same for views of rows of these widths, of each of [`HEIGHTS`].
///
/// # Errors
///
/// As for [`check_lengths`].
///
/// # Panics
///
/// As for [`check_lengths`].
pub fn check_widths(device: &Device, widths: impl IntoIterator<Item = usize>) -> Result<usize, Error> {
    let (stream, mut launches) = (device.stream()?, 0);
    let instances = tails::tails_of_rows::INSTANCES.iter().chain(&tails::tails_of_rows_with_halos::INSTANCES);
    for (width, height) in widths.into_iter().flat_map(|width| HEIGHTS.map(|height| (width, height))) {
        let rows = random_bits::<u8>(width * height, 47);
        let input = device.upload_2d(&rows, width)?;
        let (mirrored, with_halos) = (of_rows(&rows, width), of_rows_with_halos(&rows, width));
        for (instance, grid) in instances.clone().flat_map(|one| GRIDS.map(|grid| (one, grid))) {
            let expected = if instance.kernel() == "tails_of_rows" { &mirrored } else { &with_halos };
            let mut out = device.filled_with_byte_2d::<u8>(width, height, POISON)?;
            launch(&stream, grid, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
            compare(&out.download()?, expected, instance, &format!("{width} x {height} elements in {grid} blocks"));
            launches += 1;
        }
    }
    Ok(launches)
}

/// Asserts that a launch wrote what it should.
fn compare(got: &[u8], expected: &[u8], instance: &Instance, size: &str) {
    let difference = got.iter().zip(expected).position(|(got, expected)| got != expected);
    assert_eq!(difference, None, "first byte in which {} of {size} differs", instance.name());
    assert_eq!(got.len(), expected.len(), "{} of {size}", instance.name());
}
