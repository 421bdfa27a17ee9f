//! The kernels of `tilepipe_test_kernels::reads`, compared with plain loops.

use tilepipe::Element;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::reads::{
    THREADS, aligned_runs, columns_read, corners_added, gathered, ranked, row_runs, runs, valid_parts,
};

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
    for len in [1, 2, 3, 4, 5, 255, 256, 257, 258, 259, 1000] {
        launches += rows_of_a_view::<u8, 4>(device, "u8", len)? + rows_of_a_view::<u8, 3>(device, "u8", len)?;
        launches += rows_of_a_view::<i16, 4>(device, "i16", len)? + rows_of_a_view::<f32, 4>(device, "f32", len)?;
        launches += rows_of_a_view::<u64, 2>(device, "u64", len)? + rows_of_a_view::<u128, 1>(device, "u128", len)?;
    }
    for [height, width] in EXTENTS {
        matrices(device, height, width)?;
        sums_of_runs(device, height, width)?;
        parts_of_tiles(device, height, width)?;
        launches += 4;
    }
    Ok(launches)
}

/// Runs of a view whose start has every address modulo 16 that elements of this type can have, and
/// of one whose type says that it is aligned.
fn rows_of_a_view<T: Element, const RUN: usize>(device: &Device, name: &str, len: usize) -> Result<usize, Error> {
    let run = RUN.to_string();
    let is_asked = |one: &&Instance| one.generic("T") == Some(name) && one.generic("RUN") == Some(&run);
    let find = |instances: &'static [Instance]| instances.iter().find(is_asked);
    let starts = 16 / align_of::<T>();
    let bits = random_bits::<u8>((len + starts) * size_of::<T>(), 13);
    let data: Vec<T> = bits.chunks(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
    let uploaded = device.upload(&data)?;
    let mut launches = 0;
    for start in 0..starts {
        let kept = (start * size_of::<T>()).is_multiple_of(16);
        let aligned = find(&aligned_runs::INSTANCES).filter(|_| kept);
        for instance in find(&runs::INSTANCES).into_iter().chain(aligned) {
            // Beyond the last run there are some that the input does not have.
            let number = len.div_ceil(RUN) + 3;
            let mut out = device.filled_with_byte::<[T; RUN]>(number, 0xEE)?;
            let mut counts = device.filled_with_byte::<u32>(number, 0xEE)?;
            let arguments = [
                Bound::input_slice(uploaded.slice(start..start + len)?),
                Bound::output(&mut out),
                Bound::output(&mut counts),
            ];
            launch(&device.stream()?, GRID, instance, arguments)?;
            let element = |at: usize| data[start..start + len].get(at).copied().unwrap_or(bytemuck::Zeroable::zeroed());
            let expected: Vec<T> = (0..number * RUN).map(element).collect();
            let got = out.download()?;
            assert!(
                bytemuck::cast_slice::<_, u8>(&got) == bytemuck::cast_slice::<_, u8>(&expected),
                "{}: {len} from {start} on",
                instance.name()
            );
            let expected: Vec<u32> = (0..number).map(|nth| len.saturating_sub(nth * RUN).min(RUN) as u32).collect();
            assert_eq!(counts.download()?, expected, "{}: {len} from {start} on", instance.name());
            launches += 1;
        }
    }
    Ok(launches)
}

fn sums_of_runs(device: &Device, height: usize, width: usize) -> Result<(), Error> {
    let data = random_bits::<u32>(width * height, 17);
    let input = device.upload_2d(&data, width)?;
    let mut out = device.filled_with_byte::<u32>(height + 2, 0xEE)?;
    row_runs::launch(&device.stream()?, GRID, &input, &mut out)?;
    let row = |row: usize| data.get(row * width..(row + 1) * width).unwrap_or_default();
    let sum = |row: &[u32]| row.iter().fold(row.len() as u32, |sum, value| sum.wrapping_add(*value));
    let expected: Vec<u32> = (0..height + 2).map(|index| sum(row(index))).collect();
    assert_eq!(out.download()?, expected, "{height} x {width}");
    Ok(())
}

fn parts_of_tiles(device: &Device, height: usize, width: usize) -> Result<(), Error> {
    let (input, line) =
        (device.upload_2d(&vec![0_u32; width * height], width)?, device.upload(&vec![0_u32; width * height])?);
    let (rows, columns) = (height.div_ceil(4), width.div_ceil(8));
    let mut parts = device.filled_with_byte::<[u32; 4]>(rows * columns, 0xEE)?;
    let mut elements = device.filled_with_byte::<u32>(rows * columns, 0xEE)?;
    let mut of_line = device.filled_with_byte::<[u32; 3]>((width * height).div_ceil(64), 0xEE)?;
    valid_parts::launch(&device.stream()?, GRID, &input, &line, &mut parts, &mut elements, &mut of_line)?;
    // The places of a tile with a halo of 4 that lie among `len`, counted one by one.
    let valid = |start: usize, extent: usize, len: usize| {
        let lies = |place: &usize| (start + place).checked_sub(4).is_some_and(|at| at < len);
        let all: Vec<usize> = (0..extent + 8).filter(lies).collect();
        (all[0], all[all.len() - 1] + 1)
    };
    let expected = (0..rows * columns).map(|tile| {
        let (above, below) = valid(tile / columns * 4, 4, height);
        let (before, end) = valid(tile % columns * 8, 8, width);
        ([above, below, before, end].map(|number| number as u32), ((below - above) * (end - before)) as u32)
    });
    let (expected, numbers): (Vec<_>, Vec<_>) = expected.unzip();
    assert_eq!((parts.download()?, elements.download()?), (expected, numbers), "{height} x {width}");
    let expected = (0..(width * height).div_ceil(64)).map(|tile| {
        let (before, end) = valid(tile * 64, 64, width * height);
        [before, end, end - before].map(|number| number as u32)
    });
    assert_eq!(of_line.download()?, expected.collect::<Vec<_>>(), "{height} x {width}");
    Ok(())
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
