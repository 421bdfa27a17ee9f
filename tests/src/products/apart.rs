//! Products of which each warpgroup multiplies other stages.

use tilepipe::bf16;
use tilepipe_host::{Bound, Device, Error, launch};
use tilepipe_test_kernels::tensor::apart::{NUMBERS, product_of_bands, product_of_bands_in_turn};

use super::numbers;

/// What is in an element that nobody writes.
const POISON: u8 = 0xEE;

/// Of each warpgroup the first part along K, their end, and the tile at which it leaves.
type Bands = [[u32; NUMBERS]; 3];

/// All warpgroups alike, bands like those of causal attention and of a window, and a warpgroup
/// without any part, of a product of five parts.
const BANDS: [Bands; 4] = [
    [[0, 5, u32::MAX]; 3],
    [[0, 1, u32::MAX], [0, 3, u32::MAX], [0, 5, u32::MAX]],
    [[0, 2, u32::MAX], [2, 3, u32::MAX], [3, 5, u32::MAX]],
    [[4, 5, u32::MAX], [2, 2, u32::MAX], [0, 4, u32::MAX]],
];

/// Warpgroups that leave: one at once, one after the other, and all.
const LEFT: [Bands; 3] = [
    [[0, 5, u32::MAX], [0, 5, 0], [1, 4, u32::MAX]],
    [[0, 2, 2], [2, 5, 1], [0, 5, u32::MAX]],
    [[0, 5, 1], [0, 1, 0], [4, 5, 2]],
];

/// Checks products of whole numbers, whose sums are exact. Returns how many launches there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device) -> Result<usize, Error> {
    let mut launches = 0;
    let (rows, columns, deep) = (390, 40, 152);
    for (instance, times) in instances() {
        for bands in BANDS.iter().chain(&LEFT) {
            for grid in [1, 4] {
                let whole = |seed, len: usize| numbers(len, seed, 7).map(|number| number as f32 - 3.0);
                let (a, b): (Vec<_>, Vec<_>) = (whole(1, rows * deep).collect(), whole(2, columns * deep).collect());
                let upload = |values: &[f32]| {
                    let values: Vec<bf16> = values.iter().map(|value| bf16::from_f32(*value)).collect();
                    device.upload_2d(&values, deep)
                };
                let (a_there, b_there) = (upload(&a)?, upload(&b)?);
                let of_bands = device.upload(bands.as_flattened())?;
                let mut out = device.filled_with_byte_2d::<f32>(columns, rows, POISON)?;
                let arguments = [
                    Bound::input_2d(&a_there),
                    Bound::input_2d(&b_there),
                    Bound::input(&of_bands),
                    Bound::output_2d(&mut out),
                ];
                launch(&device.stream()?, grid, instance, arguments)?;
                let found = out.download()?;
                let apart = times == 2 || instance.name().ends_with("true");
                for (at, found) in found.iter().enumerate() {
                    let place = [at / columns, at % columns];
                    let wanted = element(&a, &b, place, [columns, deep], (bands, apart, grid, times));
                    let place = (at / columns, at % columns);
                    assert_eq!(found.to_bits(), wanted.to_bits(), "{}: {bands:?}, {place:?}", instance.name());
                }
                launches += 1;
            }
        }
    }
    Ok(launches)
}

/// All instances, and what they multiply each product by.
fn instances() -> impl Iterator<Item = (&'static tilepipe::launch::Instance, u32)> {
    let once = product_of_bands::INSTANCES.iter().map(|instance| (instance, 1));
    once.chain(product_of_bands_in_turn::INSTANCES.iter().map(|instance| (instance, 2)))
}

/// What the kernel writes at a place, in blocks that take tiles in turn.
fn element(
    a: &[f32],
    b: &[f32],
    [row, column]: [usize; 2],
    [columns, deep]: [usize; 2],
    (bands, apart, grid, times): (&Bands, bool, u32, u32),
) -> f32 {
    let [from, to, last] = bands[if apart { row % 192 / 64 } else { 0 }];
    let tile = row / 192 * columns.div_ceil(32) + column / 32;
    if (tile / grid as usize) as u32 >= last {
        return f32::from_ne_bytes([POISON; 4]);
    }
    let parts = (from as usize * 32).min(deep)..(to as usize * 32).min(deep);
    let products = parts.map(|along| a[row * deep + along] * b[column * deep + along]);
    products.fold(0.0, |sum, product| sum + times as f32 * product)
}
