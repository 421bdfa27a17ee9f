//! Products of random shapes, layouts and epilogues, by the host functions, against sums in `f64`.

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};
use tilepipe_host::{Buffer2D, Device, Error};
use tilepipe_kernels::{Epilogue, Matrix, MultiplyError, multiply, multiply_fused, multiply_in_parts};
use tilepipe_runner::reference::transposed;

use super::{Half, fractions, numbers};

/// Elements of each product that are compared.
const SAMPLES: usize = 64;
/// Of so many products one is without an epilogue, and may have K in parts.
const PLAIN: u32 = 4;

/// Random numbers, one after the other.
struct Choices {
    seed: u64,
}

impl Choices {
    /// A number from 0 to `below - 1`.
    fn below(&mut self, below: usize) -> usize {
        self.seed += 1;
        numbers(1, self.seed, below as u32).next().unwrap_or(0) as usize
    }

    fn either(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// What is computed of a product, and what the same is in `f64`.
#[derive(Clone, Copy, Debug)]
struct Finish {
    alpha: f32,
    beta: Option<f32>,
    bias: bool,
    bias_of_rows: bool,
    activation: Activation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activation {
    Identity,
    Relu,
    Silu,
}

impl Finish {
    fn random(choices: &mut Choices) -> Self {
        Finish {
            alpha: [1.0, -0.5, 0.25][choices.below(3)],
            beta: [None, Some(0.0), Some(1.0), Some(-1.5)][choices.below(4)],
            bias: choices.either(),
            bias_of_rows: choices.either(),
            activation: [Activation::Identity, Activation::Relu, Activation::Silu][choices.below(3)],
        }
    }
}

/// Multiplies matrices of `count` random shapes of up to `most` rows, columns and terms, and
/// compares samples of each product, the corners among them. Each launch is made twice, and has the
/// same bits. Returns how many products there were.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If an element is another one.
pub fn check(device: &Device, count: u32, most: usize, seed: u64) -> Result<u32, MultiplyError> {
    let mut choices = Choices { seed: seed << 32 };
    for nth in 0..count {
        let finish = (nth % PLAIN != 0).then(|| Finish::random(&mut choices));
        match choices.either() {
            true => check_one::<bf16>(device, &mut choices, most, finish)?,
            false => check_one::<f16>(device, &mut choices, most, finish)?,
        }
    }
    Ok(count)
}

/// A matrix of the product's elements, on the device and here.
struct Given<T> {
    buffer: Buffer2D<T>,
    values: Vec<T>,
}

impl<T: Half> Given<T> {
    fn random(device: &Device, [rows, columns]: [usize; 2], seed: u64) -> Result<Self, Error> {
        let values: Vec<T> = fractions(rows * columns, seed);
        Ok(Given { buffer: device.upload_2d(&values, columns)?, values })
    }
}

fn check_one<T: Half + OperandElement>(
    device: &Device,
    choices: &mut Choices,
    most: usize,
    finish: Option<Finish>,
) -> Result<(), MultiplyError> {
    let [rows, columns, deep] = [(); 3].map(|()| 1 + choices.below(most));
    let seed = choices.seed;
    // A has its rows here, and B the columns of B.
    let a = Given::<T>::random(device, [rows, deep], seed + 1)?;
    let b = Given::<T>::random(device, [columns, deep], seed + 2)?;
    let (across_a, across_b) = (choices.either(), choices.either());
    let turned = |given: &Given<T>, height: usize| device.upload_2d(&transposed(&given.values, deep), height);
    let (turned_a, turned_b) = (turned(&a, rows)?, turned(&b, columns)?);
    let left = if across_a { Matrix::transposed(&turned_a) } else { Matrix::of(&a.buffer) };
    let right = if across_b { Matrix::of(&turned_b) } else { Matrix::transposed(&b.buffer) };
    let added = Given::<T>::random(device, [rows, columns], seed + 3)?;
    let bias = Given::<T>::random(device, [1, columns], seed + 4)?;
    let bias_of_rows = Given::<T>::random(device, [1, rows], seed + 5)?;
    // In parts of K there are stages for, or as a whole.
    let parts = choices.below(5).min(deep.div_ceil(64));
    let what = format!("{rows} x {columns}, {deep} terms, {across_a} {across_b} {parts} {finish:?}");

    let stream = device.stream()?;
    let mut results = Vec::new();
    for poison in [0xEE, 0x11] {
        let mut out = device.filled_with_byte_2d::<T>(columns, rows, poison)?;
        match finish {
            None if parts == 0 => multiply(&stream, left, right, &mut out)?,
            None => {
                let below = parts * rows.next_multiple_of(128);
                let mut room = device.filled_with_byte_2d::<f32>(columns, below, 0xFF)?;
                multiply_in_parts(&stream, left, right, &mut room, &mut out)?;
            }
            Some(finish) => {
                let mut epilogue = Epilogue::new().scale(finish.alpha);
                if let Some(beta) = finish.beta {
                    epilogue = epilogue.add(beta, &added.buffer);
                }
                if finish.bias {
                    epilogue = epilogue.bias(&bias.buffer);
                }
                if finish.bias_of_rows {
                    epilogue = epilogue.bias_of_rows(&bias_of_rows.buffer);
                }
                epilogue = match finish.activation {
                    Activation::Identity => epilogue,
                    Activation::Relu => epilogue.relu(),
                    Activation::Silu => epilogue.silu(),
                };
                multiply_fused(&stream, left, right, epilogue, &mut out)?;
            }
        }
        results.push(out.download()?);
    }
    let (first, second) = (&results[0], &results[1]);
    assert_eq!(bytemuck::cast_slice::<T, u16>(first), bytemuck::cast_slice::<T, u16>(second), "{what}: two launches");

    let corners = [0, columns - 1, (rows - 1) * columns, rows * columns - 1];
    let samples: Vec<usize> = (0..SAMPLES).map(|_| choices.below(rows * columns)).collect();
    for at in corners.into_iter().chain(samples) {
        let (row, column) = (at / columns, at % columns);
        let terms = a.values[row * deep..][..deep].iter().zip(&b.values[column * deep..][..deep]);
        let terms = terms.map(|(x, y)| (*x).into() * (*y).into());
        let (mut sum, mut size) = terms.fold((0.0_f64, 0.0_f64), |(sum, size), term| (sum + term, size + term.abs()));
        // Of the sums themselves, and of the few roundings of what is added.
        let mut error = size * deep as f64 * 2_f64.powi(-23);
        if let Some(finish) = finish {
            sum *= f64::from(finish.alpha);
            error *= f64::from(finish.alpha).abs();
            size *= f64::from(finish.alpha).abs();
            let addends = [
                finish.beta.map_or(0.0, |beta| f64::from(beta) * added.values[at].into()),
                if finish.bias { bias.values[column].into() } else { 0.0 },
                if finish.bias_of_rows { bias_of_rows.values[row].into() } else { 0.0 },
            ];
            sum += addends.iter().sum::<f64>();
            size += addends.iter().map(|addend| addend.abs()).sum::<f64>();
            error += size * 2_f64.powi(-22);
            match finish.activation {
                Activation::Identity => {}
                Activation::Relu => sum = sum.max(0.0),
                // Its slope is less than 1.1.
                Activation::Silu => {
                    sum /= 1.0 + (-sum).exp();
                    error = 1.1 * error + sum.abs() * 2_f64.powi(-19);
                }
            }
        }
        // The result is rounded; what is subnormal has fewer bits.
        let bound = error * 1.001 + sum.abs() * 2_f64.powi(-T::FRACTION - 1) + T::SMALLEST;
        let found: f64 = first[at].into();
        assert!((found - sum).abs() <= bound, "{what}: {found} at {row}, {column} and not {sum} (+- {bound})");
    }
    Ok(())
}

/// What the host functions refuse, each with its message, before anything is written.
///
/// # Errors
///
/// What the device says.
///
/// # Panics
///
/// If something is not refused, or as something else.
pub fn check_errors(device: &Device) -> Result<(), Error> {
    let matrix = |rows, columns| Ok::<_, Error>(Given::<bf16>::random(device, [rows, columns], 7)?.buffer);
    let (a, b, c) = (matrix(16, 8)?, matrix(8, 24)?, matrix(24, 16)?);
    let stream = device.stream()?;
    let mut out = device.filled_with_byte_2d::<bf16>(24, 16, 0xEE)?;
    let refused = |error: Result<(), MultiplyError>, text: &str| {
        let message = error.expect_err(text).to_string();
        assert!(message.contains(text), "{message}");
    };
    refused(
        multiply(&stream, Matrix::of(&b), Matrix::of(&a), &mut out),
        "no product of a 8 x 24 matrix and a 16 x 8 one is a 16 x 24 one",
    );
    let mut in_parts = |columns, rows, text: &str| {
        let mut room = device.zeroed_2d::<f32>(columns, rows)?;
        refused(multiply_in_parts(&stream, Matrix::of(&a), Matrix::of(&b), &mut room, &mut out), text);
        Ok::<_, Error>(())
    };
    in_parts(
        24,
        256,
        "a 256 x 24 matrix has no room for the sums of parts: it is to have 128 x 24 elements for each of 1 to 1 parts",
    )?;
    in_parts(23, 128, "a 128 x 23 matrix has no room")?;
    in_parts(24, 127, "so a multiple of 128 rows")?;
    let fused = |epilogue, out: &mut _| multiply_fused(&stream, Matrix::of(&a), Matrix::of(&b), epilogue, out);
    refused(fused(Epilogue::new().add(1.0, &c), &mut out), "a 24 x 16 matrix can't be added here: it is to be 16 x 24");
    refused(fused(Epilogue::new().bias(&a), &mut out), "a 16 x 8 matrix can't be added here: it is to be 1 x 24");
    refused(fused(Epilogue::new().bias_of_rows(&a), &mut out), "it is to be 1 x 16");
    assert!(out.download()?.iter().all(|element| element.to_bits() == 0xEEEE), "nothing is written");
    Ok(())
}
