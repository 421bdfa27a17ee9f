//! Products of which a factor is another product, in shared memory.

use tilepipe::launch::Instance;
use tilepipe::{bf16, f16};
use tilepipe_host::{Bound, Buffer2D, Device, Error, launch};
use tilepipe_runner::value::DType;
use tilepipe_test_kernels::tensor::written::{
    LEFT_ACROSS, LEFT_ALONG, RIGHT_ACROSS, product_with_a_product, product_with_queued_products,
};

use super::{Half, numbers};
use crate::case::dtype_of;

/// Checks products of `A * B^T` and C, on either side, in whole numbers, whose sums are exact.
/// Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device) -> Result<usize, Error> {
    // Tiles of rows of A and C, rows of B, and blocks: one tile, more of B, and more of both.
    let sizes = [(1, 128, 1), (1, 300, 1), (3, 128, 2), (5, 200, 2)];
    let instances = || product_with_a_product::INSTANCES.iter().chain(&product_with_queued_products::INSTANCES);
    for instance in instances() {
        let form = instance.generic("FORM").and_then(|form| form.parse().ok()).expect("a number");
        for (tiles, terms, grid) in sizes {
            let (a, b, c) = (whole(1, tiles * 128 * 64), whole(2, terms * 64), whole(3, tiles * 128 * 128));
            let mut out = device.filled_with_byte_2d::<f32>(128, tiles * 128, 0xEE)?;
            let rows = [&a, &b, &c].map(Vec::as_slice);
            match dtype_of(instance) {
                DType::BF16 => launch_one::<bf16>(device, instance, grid, rows, &mut out)?,
                _ => launch_one::<f16>(device, instance, grid, rows, &mut out)?,
            }
            let found = out.download()?;
            for tile in 0..tiles {
                let wanted = tile_of(form, &a[tile * 128 * 64..], &b, &c[tile * 128 * 128..]);
                assert!(
                    found[tile * 128 * 128..][..128 * 128] == wanted,
                    "{}: tile {tile} of {tiles}",
                    instance.name()
                );
            }
        }
    }
    Ok(instances().count() * sizes.len())
}

/// Numbers of which a product's sums are exact in 16 bits: few are not 0.
fn whole(seed: u64, len: usize) -> Vec<f32> {
    numbers(len, seed, 13).map(|number| if number < 3 { number as f32 - 1.0 } else { 0.0 }).collect()
}

fn launch_one<T: Half>(
    device: &Device,
    instance: &Instance,
    grid: u32,
    [a, b, c]: [&[f32]; 3],
    out: &mut Buffer2D<f32>,
) -> Result<(), Error> {
    let upload = |values: &[f32], width| {
        let values: Vec<T> = values.iter().map(|value| T::of(*value)).collect();
        device.upload_2d(&values, width)
    };
    let (a, b, c) = (upload(a, 64)?, upload(b, 64)?, upload(c, 128)?);
    let [a, b, c] = [&a, &b, &c].map(Bound::input_2d);
    launch(&device.stream()?, grid, instance, [a, b, c, Bound::output_2d(out)])
}

/// A tile of the result.
fn tile_of(form: usize, a: &[f32], b: &[f32], c: &[f32]) -> Vec<f32> {
    let mut result = vec![0.0; 128 * 128];
    for rows in b.chunks(128 * 64) {
        let mut between = vec![0.0; 128 * 128];
        for (row, sums) in between.chunks_mut(128).enumerate() {
            for (sum, other) in sums.iter_mut().zip(rows.chunks(64)) {
                *sum = a[row * 64..][..64].iter().zip(other).map(|(x, y)| x * y).sum();
            }
        }
        let element = |row: usize, column: usize, term: usize| match form {
            RIGHT_ACROSS => c[term * 128 + row] * between[term * 128 + column],
            LEFT_ALONG => between[row * 128 + term] * c[column * 128 + term],
            LEFT_ACROSS => between[term * 128 + row] * c[term * 128 + column],
            _ => c[row * 128 + term] * between[column * 128 + term],
        };
        for (at, sum) in result.iter_mut().enumerate() {
            *sum += (0..128).map(|term| element(at / 128, at % 128, term)).sum::<f32>();
        }
    }
    result
}
