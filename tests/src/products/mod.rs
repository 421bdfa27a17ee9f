//! Matrix products by tensor cores, against sums in `f64`.

use tilepipe::launch::Instance;
use tilepipe::{Element, bf16, f16};
use tilepipe_host::{Bound, Buffer2D, Device, Error, Stream, launch};
use tilepipe_kernels::gemm;
use tilepipe_runner::reference::transposed;
use tilepipe_runner::value::{DType, Value};
use tilepipe_test_kernels::tensor::products::{
    product_behind_one_left_early, product_of_some_stages, products_added_up, products_two_at_once,
};
use tilepipe_test_kernels::tensor::steps::product_step;

use crate::case::{dtype_of, random_bits};

pub mod apart;
pub mod attention;
pub mod chained;
pub mod decoding;
pub mod drawn;
pub mod gradient;
pub mod in_a_row;
pub mod packed;
pub mod rows;
pub mod shapes;
pub mod written;

/// A 16-bit float.
trait Half: Value + Into<f64> {
    /// Bits of its fraction.
    const FRACTION: i32;
    /// The distance of the smallest numbers.
    const SMALLEST: f64;
    fn of(x: f32) -> Self;
}

impl Half for bf16 {
    const FRACTION: i32 = 7;
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    fn of(x: f32) -> Self {
        bf16::from_f32(x)
    }
}

impl Half for f16 {
    const FRACTION: i32 = 10;
    const SMALLEST: f64 = 1.0 / (1 << 24) as f64;
    fn of(x: f32) -> Self {
        f16::from_f32(x)
    }
}

/// Thousandths from -2 to 2, rounded.
fn fractions<T: Half>(count: usize, seed: u64) -> Vec<T> {
    numbers(count, seed, 4001).map(|number| T::of(number as f32 / 1000.0 - 2.0)).collect()
}

/// Numbers from 0 to `below - 1`.
fn numbers(count: usize, seed: u64, below: u32) -> impl Iterator<Item = u32> {
    random_bits::<u32>(count, seed).into_iter().map(move |bits| bits % below)
}

/// An instance's factor's name in its generic arguments, and whether its rows in memory are across
/// K.
fn is_across(instance: &Instance, factor: &str) -> bool {
    match instance.generic(factor).and_then(|path| path.rsplit("::").next()) {
        Some("Along") => false,
        Some("Across") => true,
        other => panic!("{}: {factor} is {other:?}", instance.name()),
    }
}

/// The columns of an instance's tiles.
fn columns_of(instance: &Instance) -> usize {
    instance.generic("COLUMNS").and_then(|columns| columns.parse().ok()).unwrap_or(1)
}

/// Rows, columns and terms of a product, and the launch's blocks.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// Rows of A and of the product.
    pub rows: usize,
    /// Rows of B, and columns of the product.
    pub columns: usize,
    /// Elements of a row of A and of one of B.
    pub deep: usize,
    /// Blocks.
    pub grid: u32,
}

/// Sizes below a tile, of one tile, and of several, with rows and terms that end anywhere.
pub const SMALL: [Size; 5] = [
    Size { rows: 1, columns: 8, deep: 8, grid: 1 },
    Size { rows: 128, columns: 128, deep: 64, grid: 1 },
    Size { rows: 129, columns: 264, deep: 72, grid: 7 },
    Size { rows: 64, columns: 40, deep: 520, grid: 1 },
    Size { rows: 300, columns: 520, deep: 136, grid: 2 },
];

/// Checks every instance, or each `every`-th, at these sizes, with whole numbers, whose sums are
/// exact, and with fractions, whose sums are within a bound. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device, sizes: &[Size], every: usize) -> Result<usize, Error> {
    let mut launches = 0;
    for instance in gemm::INSTANCES.iter().step_by(every) {
        for size in sizes {
            match dtype_of(instance) {
                DType::BF16 => check_one::<bf16>(device, instance, *size)?,
                DType::F16 => check_one::<f16>(device, instance, *size)?,
                other => panic!("{}: {other}", instance.name()),
            }
            launches += 2;
        }
    }
    Ok(launches)
}

/// Checks products of which some stages are given back unread. Returns how many launches there
/// were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check_some_stages(device: &Device) -> Result<usize, Error> {
    // Elements along K of a stage.
    const DEEP: usize = 32;
    let mut launches = 0;
    for instance in &product_of_some_stages::INSTANCES {
        let every: usize = instance.generic("EVERY").and_then(|every| every.parse().ok()).expect("a number");
        for (rows, columns, rounds) in [(64, 32, 1), (130, 72, 7), (70, 33, 40)] {
            let deep = DEEP * every * rounds;
            let whole = |seed, height| {
                let values = numbers(height * deep, seed, 3);
                values.map(|number| bf16::from_f32(number as f32 - 1.0)).collect::<Vec<_>>()
            };
            let (a, b) = (whole(1, rows), whole(2, columns));
            let (left, right) = (device.upload_2d(&a, deep)?, device.upload_2d(&b, deep)?);
            let mut out = device.filled_with_byte_2d::<f32>(columns, rows, 0xEE)?;
            let arguments = [Bound::input_2d(&left), Bound::input_2d(&right), Bound::output_2d(&mut out)];
            launch(&device.stream()?, 2, instance, arguments)?;
            let last = deep - DEEP * (every - 1);
            for (at, found) in out.download()?.into_iter().enumerate() {
                let (row, column) = (at / columns, at % columns);
                let terms = a[row * deep + last..][..deep - last].iter().zip(&b[column * deep + last..]);
                let sum: f32 = terms.map(|(x, y)| x.to_f32() * y.to_f32()).sum();
                assert_eq!(found, sum, "{} of {rows} x {columns}, {deep} deep: {row}, {column}", instance.name());
            }
            launches += 1;
        }
    }
    Ok(launches)
}

/// Checks products in the memory of another one that a role has left halfway. Returns how many
/// launches there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check_left_early(device: &Device) -> Result<usize, Error> {
    let mut launches = 0;
    for instance in &product_behind_one_left_early::INSTANCES {
        // With fewer steps than there are stages, as many, and more than twice as many.
        for deep in [8, 64, 96, 200, 328] {
            check_whole::<f32>(device, [100, 72, deep], instance.name(), |stream, [left, right], out| {
                let arguments = [Bound::input_2d(left), Bound::input_2d(right), Bound::output_2d(out)];
                launch(stream, 3, instance, arguments)
            })?;
            launches += 1;
        }
    }
    Ok(launches)
}

/// Checks products whose parts along K several blocks add up. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check_added_up(device: &Device) -> Result<usize, Error> {
    fn one<T: Element + Into<f32>>(device: &Device, instance: &Instance) -> Result<usize, Error> {
        // Tiles that end anywhere, columns that end with a panel and within one, and more blocks
        // than there are boxes of A.
        let sizes = [(64, 32, 32, 1), (100, 72, 200, 3), (64, 40, 328, 4), (150, 80, 96, 20)];
        for (rows, columns, deep, grid) in sizes {
            check_whole::<T>(device, [rows, columns, deep], instance.name(), |stream, [left, right], out| {
                *out = device.zeroed_2d(columns, rows)?;
                let arguments = [Bound::input_2d(left), Bound::input_2d(right), Bound::output_2d(out)];
                launch(stream, grid, instance, arguments)
            })?;
        }
        Ok(sizes.len())
    }
    let [of_f32, of_bf16] = &products_added_up::INSTANCES;
    Ok(one::<f32>(device, of_f32)? + one::<bf16>(device, of_bf16)?)
}

/// Checks products whose roles share out the block's registers. Returns how many launches there
/// were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check_two_at_once(device: &Device) -> Result<usize, Error> {
    // A tile in all, two for a block, an odd number of them, and several blocks with several.
    let sizes = [(128, 192, 32, 1), (256, 192, 96, 1), (100, 500, 40, 1), (700, 600, 200, 3), (1100, 1300, 64, 8)];
    for (rows, columns, deep, grid) in sizes {
        let mut marks = device.filled_with_byte::<u32>(384 * grid as usize, 0xEE)?;
        check_whole::<f32>(device, [rows, columns, deep], "two at once", |stream, [left, right], out| {
            products_two_at_once::launch(stream, grid, left, right, out, &mut marks)
        })?;
        assert!(marks.download()?.into_iter().zip((0..384).cycle()).all(|(mark, rank)| mark == rank));
    }
    Ok(sizes.len())
}

/// Checks each step of the guide's product. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check_steps(device: &Device) -> Result<usize, Error> {
    let sizes = [(100, 200, 64, 3), (300, 520, 200, 2), (520, 136, 840, 5)];
    for instance in &product_step::INSTANCES {
        for (rows, columns, deep, grid) in sizes {
            check_whole::<bf16>(device, [rows, columns, deep], instance.name(), |stream, [left, right], out| {
                let arguments = [Bound::input_2d(left), Bound::input_2d(right), Bound::output_2d(out)];
                launch(stream, grid, instance, arguments)
            })?;
        }
    }
    Ok(product_step::INSTANCES.len() * sizes.len())
}

/// Compares `left * right^T`, which `multiply` writes, with sums that are exact: of products of
/// whole numbers, few of which are not 0.
fn check_whole<T: Element + Into<f32>>(
    device: &Device,
    [rows, columns, deep]: [usize; 3],
    what: &str,
    multiply: impl FnOnce(&Stream, [&Buffer2D<bf16>; 2], &mut Buffer2D<T>) -> Result<(), Error>,
) -> Result<(), Error> {
    let whole = |seed, height: usize| {
        let values = numbers(height * deep, seed, 3).zip(0..);
        let value = |(number, at)| if at % deep < 128 { number as f32 - 1.0 } else { 0.0 };
        values.map(|one| bf16::from_f32(value(one))).collect::<Vec<_>>()
    };
    let (a, b) = (whole(1, rows), whole(2, columns));
    let (left, right) = (device.upload_2d(&a, deep)?, device.upload_2d(&b, deep)?);
    let mut out = device.filled_with_byte_2d::<T>(columns, rows, 0xEE)?;
    multiply(&device.stream()?, [&left, &right], &mut out)?;
    for (at, found) in out.download()?.into_iter().enumerate() {
        let (row, column) = (at / columns, at % columns);
        let terms = a[row * deep..][..deep].iter().zip(&b[column * deep..][..deep]);
        let (found, sum): (f32, f32) = (found.into(), terms.map(|(x, y)| x.to_f32() * y.to_f32()).sum());
        assert_eq!(found, sum, "{what}: {rows} x {columns}, {deep} deep: {row}, {column}");
    }
    Ok(())
}

/// Times the steps of the guide's product of square matrices, and `gemm`. Returns the name of each,
/// and its median in ms.
///
/// # Errors
///
/// What the device says.
pub fn time_steps(device: &Device, side: usize) -> Result<Vec<(String, f64)>, Error> {
    const ROUNDS: usize = 15;
    // Launches between two events: one alone would be timed with what the host does for it.
    const LAUNCHES: u32 = 10;
    let values = |seed| fractions::<bf16>(side * side, seed);
    let (left, right) = (device.upload_2d(&values(1), side)?, device.upload_2d(&values(2), side)?);
    let mut out = device.zeroed_2d::<bf16>(side, side)?;
    let stream = device.stream()?;
    let multiprocessors = device.multiprocessors().unwrap_or(1);
    let mut steps = Vec::new();
    for instance in &product_step::INSTANCES {
        let columns = columns_of(instance);
        let tiles = (side.div_ceil(128) * side.div_ceil(columns)) as u32;
        // A block for each tile; of the wide tiles also one for each multiprocessor.
        for grid in [tiles, multiprocessors.min(tiles)] {
            if grid == tiles || columns == 256 {
                steps.push((instance, grid, Vec::new()));
            }
        }
    }
    let along = |one: &&Instance| !is_across(one, "A") && !is_across(one, "B");
    let widest = |one: &&Instance| one.generic("T").is_some_and(|of| of.ends_with("bf16")) && columns_of(one) == 256;
    let gemm = gemm::INSTANCES.iter().find(|one| along(one) && widest(one)).expect("an instance of gemm");
    let tiles = (side.div_ceil(128) * side.div_ceil(256)) as u32;
    let rounds = tiles.div_ceil(multiprocessors);
    for grid in [tiles.div_ceil(rounds), multiprocessors.min(tiles)] {
        steps.push((gemm, grid, Vec::new()));
    }
    // In another order each time: after a slow step the GPU has power to spare.
    let mut order: Vec<usize> = (0..steps.len()).collect();
    for round in 0..=ROUNDS {
        for (at, other) in numbers(order.len(), round as u64 + 1, order.len() as u32).enumerate() {
            order.swap(at, other as usize);
        }
        for at in &order {
            let (instance, grid, times) = &mut steps[*at];
            let start = stream.record()?;
            for _ in 0..LAUNCHES {
                let arguments = [Bound::input_2d(&left), Bound::input_2d(&right), Bound::output_2d(&mut out)];
                launch(&stream, *grid, instance, arguments)?;
            }
            let end = stream.record()?;
            device.synchronize()?;
            // The first round loads the kernels.
            if round > 0 {
                times.push(end.elapsed_ms_since(&start)? / f64::from(LAUNCHES));
            }
        }
    }
    let median = |(instance, grid, mut times): (&Instance, u32, Vec<f64>)| {
        times.sort_by(f64::total_cmp);
        (format!("{}, {grid} blocks", instance.name()), times[times.len() / 2])
    };
    Ok(steps.into_iter().map(median).collect())
}

fn check_one<T: Half>(device: &Device, instance: &'static Instance, size: Size) -> Result<(), Error> {
    let Size { rows, columns, deep, grid } = size;
    // Whole numbers of -1 to 1 in at most 256 places of a row: sums are exact in 8 bits.
    let whole = |seed, height: usize| -> Vec<T> {
        let values = numbers(height * deep, seed, 3).zip(0..);
        values.map(|(number, at)| T::of(if at % deep < 256 { number as f32 - 1.0 } else { 0.0 })).collect()
    };
    for exact in [true, false] {
        let data = |seed, height| if exact { whole(seed, height) } else { fractions(height * deep, seed) };
        let (a, b) = (data(1, rows), data(2, columns));
        let upload = |factor: &[T], name| match is_across(instance, name) {
            true => device.upload_2d(&transposed(factor, deep), factor.len() / deep),
            false => device.upload_2d(factor, deep),
        };
        let on_device = (upload(&a, "A")?, upload(&b, "B")?);
        let mut out = device.filled_with_byte_2d::<T>(columns, rows, 0xEE)?;
        let arguments = [Bound::input_2d(&on_device.0), Bound::input_2d(&on_device.1), Bound::output_2d(&mut out)];
        launch(&device.stream()?, grid, instance, arguments)?;
        // Of a large product every 17th element, which are in all rows and columns.
        let every = if rows * columns > 1 << 18 { 17 } else { 1 };
        for (at, found) in out.download()?.into_iter().enumerate().step_by(every) {
            let (row, column) = (at / columns, at % columns);
            let terms = a[row * deep..][..deep].iter().zip(&b[column * deep..][..deep]);
            let terms = terms.map(|(x, y)| (*x).into() * (*y).into());
            let (sum, size_of_terms) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
            // Sums of f32 err by at most a unit in the last place of all terms together for each
            // term, and the result is rounded once more.
            let bound = if exact {
                0.0
            } else {
                size_of_terms * deep as f64 * 2_f64.powi(-23) + f64::abs(sum) * 2_f64.powi(-T::FRACTION - 1)
            };
            let found: f64 = found.into();
            assert!(
                (found - sum).abs() <= bound,
                "{} of {size:?}, exact: {exact}: {found} at {row}, {column} and not {sum} (+- {bound})",
                instance.name()
            );
        }
    }
    Ok(())
}
