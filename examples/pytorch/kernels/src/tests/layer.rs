//! The layer against sums in 64 bits.
//!
//! A sum in `f32` of `k` terms is wrong by less than `k` units of 2^-24 of the sum of their
//! magnitudes, and tensor cores may drop as much again: with 300 terms less than 2^-14. What is
//! stored is rounded to a type with 7 (`bf16`) or 10 bits of fraction.

use tilepipe::product::{OperandElement, SumElement};
use tilepipe_host::{Buffer2D, Device, Error, Schedule};

use super::numbers;
use crate::*;

/// Inputs, their width, and outputs: less than a tile, several, and what is cut off.
const SHAPES: [[usize; 3]; 4] = [[1, 8, 8], [3, 72, 264], [130, 200, 16], [260, 64, 136]];

/// A type of 16 bits, with the unit that it rounds to.
trait Half: OperandElement + SumElement + Into<f32> {
    const UNIT: f64;
    fn of(x: f32) -> Self;
}

impl Half for bf16 {
    const UNIT: f64 = 1.0 / 256.0;
    fn of(x: f32) -> Self {
        bf16::from_f32(x)
    }
}

impl Half for f16 {
    const UNIT: f64 = 1.0 / 2048.0;
    fn of(x: f32) -> Self {
        f16::from_f32(x)
    }
}

/// A matrix, on the device and here.
struct Matrix<T> {
    buffer: Buffer2D<T>,
    values: Vec<f64>,
    width: usize,
}

impl<T: Half> Matrix<T> {
    fn random(device: &Device, [height, width]: [usize; 2], seed: u64) -> Result<Self, Error> {
        let values: Vec<T> = numbers(height * width, seed).into_iter().map(T::of).collect();
        let buffer = device.upload_2d(&values, width)?;
        let values = values.into_iter().map(|value| f64::from(value.into())).collect();
        Ok(Matrix { buffer, values, width })
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.width + column]
    }
}

/// Compares each element with the sum of its terms, of which `finish` makes the result.
#[track_caller]
fn assert_sums<T: Half>(
    found: &Buffer2D<T>,
    terms: usize,
    term: impl Fn(usize, usize, usize) -> f64,
    finish: impl Fn(f64, usize) -> f64,
    what: &str,
) -> Result<(), Error> {
    let width = found.width();
    for (at, found) in found.download()?.into_iter().enumerate() {
        let (row, column) = (at / width, at % width);
        let terms: Vec<f64> = (0..terms).map(|nth| term(row, column, nth)).collect();
        let magnitude: f64 = terms.iter().map(|term| term.abs()).sum();
        let value = finish(terms.iter().sum(), column);
        let (found, bound) = (f64::from(found.into()), value.abs() * T::UNIT + (magnitude + 1.0) * 2.0_f64.powi(-14));
        assert!((found - value).abs() <= bound, "{what}, row {row}, column {column}: {found} is not {value}");
    }
    Ok(())
}

/// All three launches of a shape, in tiles of as many columns.
macro_rules! check {
    ($device:ident, $t:ty, [$rows:ident, $width:ident, $outputs:ident], $columns:literal, $stages:literal) => {{
        let x = Matrix::<$t>::random($device, [$rows, $width], 1)?;
        let weight = Matrix::<$t>::random($device, [$outputs, $width], 2)?;
        let bias = Matrix::<$t>::random($device, [1, $outputs], 3)?;
        let gradient = Matrix::<$t>::random($device, [$rows, $outputs], 4)?;
        let stream = $device.stream()?;
        let shape = format!("{} inputs of {}, {} outputs, tiles of {}", $rows, $width, $outputs, $columns);

        let term = |row, column, nth| x.at(row, nth) * weight.at(column, nth);
        let mut out = $device.zeroed_2d::<$t>($outputs, $rows)?;
        let silu = |x: f64| x / (1.0 + (-x).exp());
        linear::launch::<$t, Silu, $columns, $stages>(
            &stream,
            2,
            &x.buffer,
            &weight.buffer,
            &bias.buffer,
            u32::MAX,
            f32::NEG_INFINITY,
            &mut out,
        )?;
        assert_sums(&out, $width, term, |sum, column| silu(sum + bias.at(0, column)), &format!("{shape}, SiLU"))?;
        // What is passed for a bias that does not count is of another width.
        linear::launch::<$t, Linear, $columns, $stages>(
            &stream,
            3,
            &x.buffer,
            &weight.buffer,
            &x.buffer,
            0,
            0.0,
            &mut out,
        )?;
        assert_sums(&out, $width, term, |sum, _| sum.max(0.0), &format!("{shape}, ReLU"))?;

        let mut of_x = $device.zeroed_2d::<$t>($width, $rows)?;
        linear_inputs::launch::<$t, $columns, $stages>(&stream, 2, &gradient.buffer, &weight.buffer, &mut of_x)?;
        let term = |row, column, nth| gradient.at(row, nth) * weight.at(nth, column);
        assert_sums(&of_x, $outputs, term, |sum, _| sum, &format!("{shape}, gradient of inputs"))?;
        let mut of_weight = $device.zeroed_2d::<$t>($width, $outputs)?;
        linear_weights::launch::<$t, $columns, $stages>(&stream, 2, &gradient.buffer, &x.buffer, &mut of_weight)?;
        let term = |row, column, nth| gradient.at(nth, row) * x.at(nth, column);
        assert_sums(&of_weight, $rows, term, |sum, _| sum, &format!("{shape}, gradient of weights"))?;
    }};
}

fn check_all(device: &Device) -> Result<(), Error> {
    for [rows, width, outputs] in SHAPES {
        check!(device, bf16, [rows, width, outputs], 128, 6);
        check!(device, f16, [rows, width, outputs], 256, 4);
    }
    Ok(())
}

#[test]
fn layers_and_their_gradients_are_sums_of_products() -> Result<(), Error> {
    check_all(&Device::cpu(Schedule::Lazy))?;
    check_all(&Device::cpu(Schedule::Random { seed: 8 }))
}
