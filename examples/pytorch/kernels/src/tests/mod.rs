//! Values against a reference in 64 bits, with a bound for each.
//!
//! A result is a sum of terms, and its error is compared with the sum of their magnitudes: a term
//! that cancels another one keeps its own error. A sum of `k` values one after the other is wrong
//! by at most `k` units of 2^-24 of that. A row of `n` elements is added in `n / 128` steps by a
//! thread and in 13 more by the block; a gradient of the weights in at most `rows / parts + parts`
//! steps. What is computed of the sums has fewer than 20 operations. For the sizes here that is
//! below 100 units, which are 6e-6.

use tilepipe_host::{Buffer, Device, Error, Grid, Schedule};

use super::*;

mod layer;

const BOUND: f64 = 1e-5;
const EPS: f32 = 1e-5;

/// Rows, width and parts: less than a tile, a whole one, one that is cut off, several.
const FOURS: [[usize; 3]; 5] = [[1, 4, 1], [3, 1024, 2], [9, 1020, 4], [5, 4100, 5], [70, 516, 8]];
const ONES: [[usize; 3]; 6] = [[1, 1, 1], [2, 3, 2], [7, 1023, 3], [5, 1025, 1], [33, 127, 4], [2, 4099, 2]];

/// Numbers from -1 to 1, from a seed.
fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u32 << 23) as f32 - 1.0
    };
    (0..len).map(next).collect()
}

/// A sum of terms, and the sum of their magnitudes.
#[derive(Clone, Copy, Default)]
struct Sum(f64, f64);

impl Sum {
    fn add(&mut self, term: f64) {
        *self = Sum(self.0 + term, self.1 + term.abs());
    }
}

/// What is computed: the norm, and the gradients of elements and of weights.
#[derive(Default)]
struct Expected {
    norm: Vec<Sum>,
    elements: Vec<Sum>,
    weights: Vec<Sum>,
}

fn expected(x: &[f32], w: &[f32], g: &[f32]) -> Expected {
    let width = w.len();
    let mut expected = Expected { weights: vec![Sum::default(); width], ..Expected::default() };
    for (x, g) in x.chunks(width).zip(g.chunks(width)) {
        let wide = |nth: usize| (f64::from(x[nth]), f64::from(w[nth]), f64::from(g[nth]));
        let mut products = Sum::default();
        (0..width).map(wide).for_each(|(x, w, g)| products.add(g * w * x));
        let squares: f64 = x.iter().map(|x| f64::from(*x).powi(2)).sum();
        let factor = (squares / width as f64 + f64::from(EPS)).sqrt().recip();
        for (nth, of_weight) in expected.weights.iter_mut().enumerate() {
            let (x, w, g) = wide(nth);
            expected.norm.push(Sum(x * factor * w, (x * factor * w).abs()));
            let along = x * factor.powi(3) / width as f64;
            let value = factor * g * w - along * products.0;
            expected.elements.push(Sum(value, (factor * g * w).abs() + along.abs() * products.1));
            of_weight.add(g * x * factor);
        }
    }
    expected
}

#[track_caller]
fn assert_close(found: &[f32], expected: &[Sum], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (at, (found, Sum(value, magnitude))) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(*found) - value).abs();
        assert!(error <= BOUND * magnitude, "{what} {at}: {found} is not {value}, of terms of {magnitude}");
    }
}

/// The launches of one shape, whose output is compared.
macro_rules! check {
    ($device:ident, [$rows:ident, $width:ident, $parts:ident], $a:ty, $piece:literal, $threads:literal, $pieces:literal) => {{
        const LEN: usize = $piece * $threads * $pieces;
        let [x, g] = [1, 2].map(|seed| numbers($rows * $width, seed));
        let w = numbers($width, 3);
        let stream = $device.stream()?;
        let upload = |values: &[f32]| $device.upload(values);
        let (input, weights, gradient) = (upload(&x)?, upload(&w)?, upload(&g)?);
        let [mut norm, mut elements] = [$device.zeroed::<f32>(x.len())?, $device.zeroed(x.len())?];
        let mut factors = $device.zeroed::<f32>($rows)?;
        let mut partial = $device.zeroed::<f32>($parts * $width)?;
        let mut of_weights: Buffer<f32> = $device.zeroed($width)?;
        let grid = Grid::tiles();
        let (to, at) = (input.rows($width)?, gradient.rows($width)?);
        rms_norm::launch::<$a, $piece, $threads, $pieces, LEN>(
            &stream,
            $rows as u32,
            to,
            &weights,
            norm.rows_mut($width)?,
            EPS,
        )?;
        rms_norm_backward::launch::<$a, $piece, $threads, $pieces, LEN>(
            &stream,
            3,
            to,
            &weights,
            at,
            elements.rows_mut($width)?,
            &mut factors,
            EPS,
        )?;
        rms_norm_weights::launch::<$a, $piece, 128, { 128 * $piece }>(
            &stream,
            grid,
            to,
            at,
            &factors,
            partial.rows_mut($width)?,
        )?;
        sum_rows::launch::<64>(&stream, grid, partial.rows($width)?, &mut of_weights)?;
        let expected = expected(&x, &w, &g);
        let shape = format!("{} rows of {}, {} threads:", $rows, $width, $threads);
        assert_close(&norm.download()?, &expected.norm, &format!("{shape} norm"));
        assert_close(&elements.download()?, &expected.elements, &format!("{shape} gradient of element"));
        assert_close(&of_weights.download()?, &expected.weights, &format!("{shape} gradient of weight"));
    }};
}

#[test]
fn norms_and_gradients_of_aligned_rows_are_right() -> Result<(), Error> {
    let device = Device::cpu(Schedule::Random { seed: 5 });
    for [rows, width, parts] in FOURS {
        check!(device, [rows, width, parts], Fours, 4, 128, 2);
        check!(device, [rows, width, parts], Fours, 4, 256, 4);
    }
    Ok(())
}

#[test]
fn norms_and_gradients_of_any_rows_are_right() -> Result<(), Error> {
    let device = Device::cpu(Schedule::Random { seed: 6 });
    for [rows, width, parts] in ONES {
        check!(device, [rows, width, parts], Ones, 1, 128, 8);
        check!(device, [rows, width, parts], Ones, 1, 256, 8);
    }
    Ok(())
}
