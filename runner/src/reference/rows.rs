//! Kernels that take each row of a matrix as a whole.

use tilepipe::math;

use super::sums::add_threads;
use crate::execute::parallel;
use crate::value::{DType, Value};

/// Elements that a thread takes at a time.
const PIECE: usize = 4;
/// What is added to a mean square: `tilepipe_kernels::RMS_NORM_EPSILON`.
const EPSILON: f32 = 1e-6;

/// Divides `exp(x - largest)` by the sum of all in its row of `width` elements, where `largest` is
/// the row's largest element.
///
/// The powers are added in the order that the kernel promises: thread `r` of `threads` takes every
/// `threads`-th piece of four elements from number `r` on. In a row of at most `len` elements it
/// adds all of its powers from left to right; in a wider one those of a piece, and then the pieces'
/// sums, each time relative to the largest element that it has seen.
///
/// # Panics
///
/// If the elements are no `f32`, or `width` or `threads` is 0.
pub fn softmax<T: Value>(input: &[T], width: usize, threads: usize, len: usize) -> Vec<T> {
    assert_eq!(T::DTYPE, DType::F32, "the softmax is of `f32`");
    let mut out = vec![0.0_f32; input.len()];
    let rows = bytemuck::cast_slice::<T, f32>(input).chunks(width).zip(out.chunks_mut(width));
    parallel::for_each(rows, |(row, out)| {
        let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum = if width <= len { sum_of_narrow(row, largest, threads) } else { sum_of_wide(row, largest, threads) };
        let factor = 1.0 / sum;
        for (to, value) in out.iter_mut().zip(row) {
            *to = math::exp_fast(value - largest) * factor;
        }
    });
    bytemuck::cast_slice(&out).to_vec()
}

/// Divides each element by the root of its row's mean square and a small number, and multiplies it
/// by its column's weight. A row has `width` elements.
///
/// The squares are added in the order that the kernel promises: thread `r` of `threads` adds those
/// of every `threads`-th piece of four elements from number `r` on.
///
/// # Panics
///
/// If the elements are no `f32`, or `width` or `threads` is 0.
pub fn rms_norm<T: Value>(input: &[T], weights: &[T], width: usize, threads: usize) -> Vec<T> {
    assert_eq!(T::DTYPE, DType::F32, "the norm is of `f32`");
    let (input, weights): (&[f32], &[f32]) = (bytemuck::cast_slice(input), bytemuck::cast_slice(weights));
    let mut out = vec![0.0_f32; input.len()];
    let rows = input.chunks(width).zip(out.chunks_mut(width));
    parallel::for_each(rows, |(row, out)| {
        let of_thread = |rank| own(row, threads, rank).flatten().fold(0.0, |sum, value| sum + value * value);
        let sum = add_threads((0..threads).map(of_thread).collect());
        let factor = math::rsqrt(sum / width as f32 + EPSILON);
        for ((to, value), weight) in out.iter_mut().zip(row).zip(weights) {
            *to = value * factor * weight;
        }
    });
    bytemuck::cast_slice(&out).to_vec()
}

/// The pieces of a thread.
fn own(row: &[f32], threads: usize, rank: usize) -> impl Iterator<Item = &[f32]> {
    row.chunks(PIECE).skip(rank).step_by(threads)
}

fn sum_of_narrow(row: &[f32], largest: f32, threads: usize) -> f32 {
    let power = |value: &f32| math::exp_fast(value - largest);
    add_threads((0..threads).map(|rank| own(row, threads, rank).flatten().map(power).sum()).collect())
}

fn sum_of_wide(row: &[f32], largest: f32, threads: usize) -> f32 {
    // A thread that has seen nothing above -inf has no power above 0.
    let power =
        |value: f32, largest: f32| math::exp_fast(if largest == f32::NEG_INFINITY { value } else { value - largest });
    let of_thread = |rank| {
        let (mut of_thread, mut sum) = (f32::NEG_INFINITY, 0.0);
        for piece in own(row, threads, rank) {
            let new = piece.iter().copied().fold(of_thread, f32::max);
            let powers = piece.iter().map(|value| power(*value, new)).sum::<f32>();
            sum = sum * power(of_thread, new) + powers;
            of_thread = new;
        }
        sum * power(of_thread, largest)
    };
    add_threads((0..threads).map(of_thread).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_to_one_in_either_order() {
        let input: Vec<f32> = (0..3 * 100).map(|i| (i * 37 % 101) as f32 / 10.0 - 5.0).collect();
        for len in [128, 64] {
            let out = softmax(&input, 100, 8, len);
            for (row, out) in input.chunks(100).zip(out.chunks(100)) {
                let sum: f64 = row.iter().map(|value| f64::from(*value).exp()).sum();
                for (value, got) in row.iter().zip(out) {
                    let exact = f64::from(*value).exp() / sum;
                    assert!((f64::from(*got) / exact - 1.0).abs() < 1e-5, "{got} for {exact}");
                }
            }
        }
    }

    #[test]
    fn rows_of_weight_one_have_a_mean_square_of_one() {
        let input: Vec<f32> = (0..3 * 50).map(|i| (i * 37 % 101) as f32 - 50.0).collect();
        for (row, out) in input.chunks(50).zip(rms_norm(&input, &[1.0; 50], 50, 4).chunks(50)) {
            let square: f64 = out.iter().map(|value| f64::from(*value).powi(2)).sum();
            assert!((square / 50.0 - 1.0).abs() < 1e-5, "{square}");
            assert!(row.iter().zip(out).all(|(value, got)| value.signum() == got.signum()));
        }
        assert_eq!(rms_norm(&[0.0_f32; 4], &[3.0; 4], 4, 1), [0.0; 4]);
        assert_eq!(rms_norm(&[3.0_f32, 3.0], &[2.0, -1.0], 2, 1)[1], -0.99999994);
    }

    #[test]
    fn a_row_of_equal_elements_is_even_and_one_without_numbers_is_none() {
        assert_eq!(softmax(&[3.0_f32; 8], 8, 2, 8), [0.125; 8]);
        for len in [8, 4] {
            let row =
                softmax(&[1.0, f32::NEG_INFINITY, f32::NEG_INFINITY, 1.0, 1.0, f32::NEG_INFINITY, 1.0], 7, 1, len);
            assert_eq!(row, [0.25, 0.0, 0.0, 0.25, 0.25, 0.0, 0.25]);
            assert!(softmax(&[f32::NEG_INFINITY; 7], 7, 1, len).iter().all(|value| value.is_nan()));
            assert!(softmax(&[0.0, f32::NAN, 1.0, 2.0, 3.0], 5, 1, len).iter().all(|value| value.is_nan()));
        }
    }
}
