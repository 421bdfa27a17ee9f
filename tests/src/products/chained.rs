//! Products of products, whose left factor lies in registers.

use tilepipe::bf16;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::tensor::chained::{LARGEST, PRODUCT, TOTAL, product_of_a_product};

use super::numbers;

/// Checks `(A * B^T) * C` and what is known of its rows, in whole numbers, whose sums are exact.
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
    // Rows of A, rows of B and C, and columns of C: one tile, tiles that end anywhere, and several.
    let sizes = [(128, 48, 64, 1), (100, 96, 64, 1), (70, 97, 40, 1), (300, 200, 150, 2), (520, 145, 64, 3)];
    // The last one takes turns.
    let shown = [PRODUCT, LARGEST, TOTAL, PRODUCT];
    assert_eq!(product_of_a_product::INSTANCES.len(), shown.len());
    for (instance, shown) in product_of_a_product::INSTANCES.iter().zip(shown) {
        for (rows, terms, columns, grid) in sizes {
            let whole = |seed, len: usize| numbers(len, seed, 3).map(|number| number as f32 - 1.0).collect::<Vec<_>>();
            let (a, b, c) = (whole(1, rows * 64), whole(2, terms * 64), whole(3, terms * columns));
            let upload = |values: &[f32], width| {
                let values: Vec<bf16> = values.iter().map(|value| bf16::from_f32(*value)).collect();
                device.upload_2d(&values, width)
            };
            let (a_there, b_there, c_there) = (upload(&a, 64)?, upload(&b, 64)?, upload(&c, columns)?);
            let mut out = device.filled_with_byte_2d::<f32>(columns, rows, 0xEE)?;
            let [left, middle, right] = [&a_there, &b_there, &c_there].map(Bound::input_2d);
            launch(&device.stream()?, grid, instance, [left, middle, right, Bound::output_2d(&mut out)])?;
            let found = out.download()?;
            for (row, found) in found.chunks(columns).enumerate() {
                let wanted = row_of(shown, row, [&a, &b, &c], [terms, columns]);
                assert_eq!(found, wanted, "{}: row {row} of {rows} x {terms} x {columns}", instance.name());
            }
        }
    }
    Ok(product_of_a_product::INSTANCES.len() * sizes.len())
}

/// What the kernel writes to a row.
fn row_of(shown: usize, row: usize, [a, b, c]: [&[f32]; 3], [terms, columns]: [usize; 2]) -> Vec<f32> {
    let place = row % 128;
    let product = |term: usize| -> f32 {
        let own = a[row * 64..][..64].iter().zip(&b[term * 64..][..64]).map(|(x, y)| x * y).sum();
        if term % 48 < place % 8 { 0.0 } else { own }
    };
    let products: Vec<f32> = (0..terms).map(product).collect();
    if shown == LARGEST {
        return vec![products.iter().copied().fold(0.0, f32::max); columns];
    }
    if shown != PRODUCT {
        return vec![products.iter().sum(); columns];
    }
    let (mut result, tiles) = (vec![0.0; columns], terms.div_ceil(48));
    for (at, tile) in products.chunks(48).enumerate() {
        for (product, factors) in tile.iter().zip(c[48 * at * columns..].chunks(columns)) {
            result.iter_mut().zip(factors).for_each(|(sum, factor)| *sum += product * factor);
        }
        // All that was added so far is doubled, but at the end.
        if at + 1 < tiles && place.is_multiple_of(64) {
            result.iter_mut().for_each(|sum| *sum *= 2.0);
        }
    }
    result
}
