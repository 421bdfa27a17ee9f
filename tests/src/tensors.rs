//! Boxes of tensors, wherever they begin and however large the tensor is, against plain loops.

use tilepipe::launch::Instance;
use tilepipe::{Element, bf16, f16};
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::tensor::stores::{
    boxes_combined, boxes_driven_to_a_role, boxes_of_a_role, boxes_of_a_role_as_loaded, boxes_stored_as_loaded,
    boxes_through_a_ring, boxes_written_again, sums_of_columns, transposed_by_patches,
};
use tilepipe_test_kernels::tensor::{box_anywhere, mapped_boxes, sums_around};

/// The number of an instance's generic argument.
fn number(instance: &Instance, name: &str) -> usize {
    instance.generic(name).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{}: {name}", instance.name()))
}

/// Rows of the boxes of `mapped_boxes` and `sums_around`.
const ROWS: usize = 8;
/// Rows of the boxes of `box_anywhere`.
const ROWS_ANYWHERE: usize = 3 * ROWS;

/// Elements that differ from their neighbours.
fn elements(len: usize) -> Vec<u32> {
    (0..len as u32).map(|index| index.wrapping_mul(0x9E37_79B9) | 1).collect()
}

/// Checks the drivers over tensors of 1 to 3 boxes in each dimension; of these the sizes whose
/// number is a multiple of `every`. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
pub fn check_extents(device: &Device, every: usize) -> Result<usize, Error> {
    let mut launches = 0;
    let small = mapped_boxes::INSTANCES.iter().filter(|one| number(one, "COLUMNS") <= 16);
    let plain = small.map(|one| (one, number(one, "COLUMNS"), triple as fn(&[u32], usize, usize) -> u32));
    let around = sums_around::INSTANCES.iter().map(|one| (one, 24, around as fn(&[u32], usize, usize) -> u32));
    let stored = boxes_through_a_ring::INSTANCES.iter().filter(|one| number(one, "COLUMNS") <= 16);
    let stored = stored.map(|one| (one, number(one, "COLUMNS"), triple as fn(&[u32], usize, usize) -> u32));
    let as_loaded = boxes_stored_as_loaded::INSTANCES
        .iter()
        .chain(&boxes_of_a_role_as_loaded::INSTANCES)
        .map(|one| (one, 16, itself as fn(&[u32], usize, usize) -> u32));
    let again = boxes_written_again::INSTANCES
        .iter()
        .chain(&boxes_of_a_role::INSTANCES)
        .chain(&boxes_driven_to_a_role::INSTANCES)
        .map(|one| (one, 16, triple as fn(&[u32], usize, usize) -> u32));
    let stream = device.stream()?;
    for (instance, columns, expected) in plain.chain(around).chain(stored).chain(as_loaded).chain(again) {
        let sizes = (1..=3 * ROWS).flat_map(|height| (1..=3 * columns).map(move |width| (width, height)));
        for (width, height) in sizes.step_by(every) {
            let data = elements(width * height);
            let input = device.upload_2d(&data, width)?;
            let mut out = device.filled_with_byte_2d::<u32>(width, height, 0xEE)?;
            launch(&stream, 2, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
            let wanted: Vec<u32> = (0..data.len()).map(|index| expected(&data, width, index)).collect();
            assert!(out.download()? == wanted, "{} of {width} x {height}", instance.name());
            launches += 1;
        }
    }
    Ok(launches)
}

fn triple(data: &[u32], _: usize, index: usize) -> u32 {
    data[index].wrapping_mul(3)
}

fn itself(data: &[u32], _: usize, index: usize) -> u32 {
    data[index]
}

fn around(data: &[u32], width: usize, index: usize) -> u32 {
    let (row, column, rows) = (index / width, index % width, data.len() / width);
    let mut sum = data[index];
    for (there, other) in [
        (row > 0, index.wrapping_sub(width)),
        (row + 1 < rows, index + width),
        (column > 0, index.wrapping_sub(1)),
        (column + 1 < width, index + 1),
    ] {
        sum = sum.wrapping_add(if there { data[other] } else { 0 });
    }
    sum
}

/// Checks single boxes of every element size and swizzle, that begin in the tensor, on its edges
/// and outside of it. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
pub fn check_places(device: &Device) -> Result<usize, Error> {
    let mut launches = 0;
    for instance in &box_anywhere::INSTANCES {
        launches += match instance.generic("T") {
            Some("u8") => places::<u8>(device, instance, |word| word as u8)?,
            Some("u16") => places::<u16>(device, instance, |word| word as u16)?,
            Some("u32") => places::<u32>(device, instance, |word| word)?,
            _ => places::<u64>(device, instance, |word| u64::from(word) * 0x1_0000_0003)?,
        };
    }
    Ok(launches)
}

fn places<T: Element + PartialEq>(device: &Device, instance: &Instance, of: fn(u32) -> T) -> Result<usize, Error> {
    let columns = number(instance, "COLUMNS");
    let (width, height) = (2 * columns + 3, ROWS_ANYWHERE + 5);
    let data: Vec<T> = elements(width * height).into_iter().map(of).collect();
    let input = device.upload_2d(&data, width)?;
    let stream = device.stream()?;
    // A box begins at 16 bytes of a row.
    let step = 16 / size_of::<T>() as i32;
    let last = (width as i32 - 1) / step * step;
    let across =
        [0, step, columns as i32, last, -step, step - columns as i32, -(columns as i32), last + step, i32::MIN];
    let down = [0, 3, 5, height as i32 - 1, -1, -(ROWS_ANYWHERE as i32), height as i32, i32::MAX];
    for (row, column) in down.into_iter().flat_map(|row| across.map(|column| (row, column))) {
        let mut out = device.filled_with_byte_2d::<T>(columns, ROWS_ANYWHERE, 0xEE)?;
        let arguments =
            [Bound::input_2d(&input), Bound::scalar(row), Bound::scalar(column), Bound::output_2d(&mut out)];
        launch(&stream, 1, instance, arguments)?;
        let at = |index: usize| {
            let (y, x) = (i64::from(row) + (index / columns) as i64, i64::from(column) + (index % columns) as i64);
            let there = (0..height as i64).contains(&y) && (0..width as i64).contains(&x);
            if there { data[y as usize * width + x as usize] } else { T::zeroed() }
        };
        let wanted: Vec<T> = (0..ROWS_ANYWHERE * columns).map(at).collect();
        assert!(out.download()? == wanted, "{} at row {row}, column {column}", instance.name());
    }
    Ok(across.len() * down.len())
}

/// Launches an instance of [`mod@box_anywhere`] whose box begins at a column. Returns what the
/// device answers where that is no multiple of 16 bytes, with the message that this is to have.
///
/// # Errors
///
/// What the device says before the kernel runs.
pub fn refusal(device: &Device, instance: &Instance, column: i32) -> Result<Option<(Error, String)>, Error> {
    let stream = device.stream()?;
    let columns = number(instance, "COLUMNS");
    macro_rules! launched {
        ($element:ty) => {{
            let input = device.zeroed_2d::<$element>(columns, ROWS)?;
            let mut out = device.zeroed_2d::<$element>(columns, ROWS_ANYWHERE)?;
            let arguments =
                [Bound::input_2d(&input), Bound::scalar(0), Bound::scalar(column), Bound::output_2d(&mut out)];
            let launched = launch(&stream, 1, instance, arguments).and_then(|()| device.synchronize());
            (launched, 16 / size_of::<$element>() as i32)
        }};
    }
    let (launched, step) = match instance.generic("T") {
        Some("u8") => launched!(u8),
        Some("u16") => launched!(u16),
        Some("u32") => launched!(u32),
        _ => launched!(u64),
    };
    let past = column.rem_euclid(step);
    let message =
        format!("a box of a tensor begins at 16 bytes of a row: this one's column is {past} past a multiple of {step}");
    match launched {
        Err(error) => Ok(Some((error, message))),
        Ok(()) => {
            assert_eq!(past, 0, "{} takes column {column}", instance.name());
            Ok(None)
        }
    }
}

/// Checks transposes by patches of every element size, of matrices of 1 to about 3 boxes in each
/// dimension. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
pub fn check_transposes(device: &Device) -> Result<usize, Error> {
    let mut launches = 0;
    for instance in &transposed_by_patches::INSTANCES {
        launches += match instance.generic("T") {
            Some("u8") => transposes::<u8>(device, instance, |word| word as u8)?,
            Some("u16") => transposes::<u16>(device, instance, |word| word as u16)?,
            Some("u32") => transposes::<u32>(device, instance, |word| word)?,
            _ => transposes::<u64>(device, instance, |word| u64::from(word) * 0x1_0000_0003)?,
        };
    }
    Ok(launches)
}

fn transposes<T: Element + PartialEq>(device: &Device, instance: &Instance, of: fn(u32) -> T) -> Result<usize, Error> {
    let side = number(instance, "SIDE");
    let stream = device.stream()?;
    let lengths = [1, side - 1, side, side + 1, 2 * side + 3];
    for (height, width) in lengths.into_iter().flat_map(|height| lengths.map(|width| (height, width))) {
        let data: Vec<T> = elements(width * height).into_iter().map(of).collect();
        let input = device.upload_2d(&data, width)?;
        let mut out = device.filled_with_byte_2d::<T>(height, width, 0xEE)?;
        launch(&stream, 3, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
        let wanted: Vec<T> = (0..data.len()).map(|index| data[index % height * width + index / height]).collect();
        assert!(out.download()? == wanted, "{} of {width} x {height}", instance.name());
    }
    Ok(lengths.len() * lengths.len())
}

/// An operation of the copy engine, as a plain function.
type Combine<T> = fn(T, T) -> T;

/// Checks the copy engine's operations on what an array holds, of every element type that it has
/// them for, and the sums of columns. Floats are small integers, so that no sum is rounded, and
/// such multiples of the least subnormal number, which are kept. Returns how many launches there
/// were.
///
/// # Errors
///
/// What the device says.
pub fn check_reductions(device: &Device) -> Result<usize, Error> {
    macro_rules! integers {
        ($device:ident, $instance:ident, $operation:ident, $integer:ty) => {{
            let of = |word: u32| (u64::from(word) * 0x1_0000_0003) as $integer;
            let combine: Combine<$integer> = match $operation {
                "Add" => <$integer>::wrapping_add,
                "Min" => <$integer>::min,
                "Max" => <$integer>::max,
                "And" => |a, b| a & b,
                "Or" => |a, b| a | b,
                _ => |a, b| a ^ b,
            };
            combined($device, $instance, of, combine)?
        }};
    }
    let mut launches = 0;
    for instance in &boxes_combined::INSTANCES {
        let operation = instance.generic("O").unwrap_or_default().rsplit("::").next().unwrap_or_default();
        launches += match instance.generic("T").unwrap_or_default() {
            "u32" => integers!(device, instance, operation, u32),
            "i32" => integers!(device, instance, operation, i32),
            "u64" => integers!(device, instance, operation, u64),
            "i64" => integers!(device, instance, operation, i64),
            "f32" => {
                combined::<f32>(device, instance, |word| small(word) as f32, |a, b| a + b)?
                    + combined::<f32>(device, instance, |word| small(word) as f32 * f32::from_bits(1), |a, b| a + b)?
            }
            "f64" => {
                combined::<f64>(device, instance, |word| f64::from(small(word)), |a, b| a + b)?
                    + combined::<f64>(
                        device,
                        instance,
                        |word| f64::from(small(word)) * f64::from_bits(1),
                        |a, b| a + b,
                    )?
            }
            "f16" => combined::<f16>(device, instance, |word| f16::from_f32(small(word) as f32), |a, b| a + b)?,
            _ => combined::<bf16>(device, instance, |word| bf16::from_f32(small(word) as f32), |a, b| a + b)?,
        };
    }
    for instance in &sums_of_columns::INSTANCES {
        launches += match instance.generic("T") {
            Some("i32") => columns::<i32>(device, instance, |word| word as i32, i32::wrapping_add)?,
            _ => columns::<f32>(device, instance, |word| small(word) as f32, |a, b| a + b)?,
        };
    }
    Ok(launches)
}

/// A small integer: few of them have a sum that eight bits hold.
fn small(word: u32) -> i32 {
    (word >> 9) as i32 % 5 - 2
}

fn combined<T: Element + PartialEq>(
    device: &Device,
    instance: &Instance,
    of: fn(u32) -> T,
    combine: Combine<T>,
) -> Result<usize, Error> {
    let columns = number(instance, "COLUMNS");
    let stream = device.stream()?;
    let extents = [[columns, ROWS], [3 * columns + 1, 2 * ROWS + 3], [1, 1]];
    // The array may have fewer rows and columns than a box, or more.
    let outputs = [[columns, ROWS], [columns - 3, ROWS - 2], [columns + 2, ROWS + 1]];
    for ([width, height], [across, down]) in extents.into_iter().flat_map(|one| outputs.map(|other| (one, other))) {
        let data: Vec<T> = elements(width * height).into_iter().map(of).collect();
        let before: Vec<T> = elements(across * down).into_iter().map(|word| of(word.rotate_left(7))).collect();
        let input = device.upload_2d(&data, width)?;
        let mut out = device.upload_2d(&before, across)?;
        launch(&stream, 3, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
        let mut wanted = before;
        for (index, value) in wanted.iter_mut().enumerate() {
            let (row, column) = (index / across, index % across);
            if row >= ROWS || column >= columns {
                continue;
            }
            // Boxes that reach beyond the tensor have zeros there.
            for y in (row..height.next_multiple_of(ROWS)).step_by(ROWS) {
                for x in (column..width.next_multiple_of(columns)).step_by(columns) {
                    let there = y < height && x < width;
                    *value = combine(*value, if there { data[y * width + x] } else { T::zeroed() });
                }
            }
        }
        assert!(out.download()? == wanted, "{} of {width} x {height} to {across} x {down}", instance.name());
    }
    Ok(extents.len() * outputs.len())
}

fn columns<T: Element + PartialEq>(
    device: &Device,
    instance: &Instance,
    of: fn(u32) -> T,
    add: Combine<T>,
) -> Result<usize, Error> {
    let columns = number(instance, "COLUMNS");
    let stream = device.stream()?;
    let extents = [[1, 1], [columns, ROWS], [columns + 5, 7 * ROWS + 3], [3 * columns - 1, 20 * ROWS]];
    let grids = [1, 3, 8];
    for ([width, height], grid) in extents.into_iter().flat_map(|extents| grids.map(|grid| (extents, grid))) {
        let data: Vec<T> = elements(width * height).into_iter().map(of).collect();
        let before: Vec<T> = elements(width).into_iter().map(|word| of(word.rotate_left(7))).collect();
        let input = device.upload_2d(&data, width)?;
        let mut out = device.upload_2d(&before, width)?;
        launch(&stream, grid, instance, [Bound::input_2d(&input), Bound::output_2d(&mut out)])?;
        let mut wanted = before;
        for (index, value) in data.iter().enumerate() {
            wanted[index % width] = add(wanted[index % width], *value);
        }
        assert!(out.download()? == wanted, "{} of {width} x {height}, {grid} blocks", instance.name());
    }
    Ok(extents.len() * grids.len())
}
