//! The comparison of a product of 16-bit floats with sums in `f64`, within a bound.
//!
//! Tensor cores and the CPU add up in orders of their own. The guide says how exact both are
//! (docs/guide/products.md).

use std::sync::{Mutex, PoisonError};

use tilepipe::product::OperandElement;
use tilepipe::{bf16, f16};

use crate::execute::parallel;
use crate::reference::{Difference, transposed};
use crate::value::Value;

/// The most terms that are added up to check a product, of which a larger one has fewer elements
/// checked. That is done in seconds.
const MOST_TERMS: u128 = 1 << 28;

/// A 16-bit float that tensor cores multiply.
pub trait Half: Value + OperandElement + Into<f32> + Into<f64> {
    /// The nearest one to a number, and of two as near the even one.
    fn nearest(number: f32) -> Self;

    /// The distance of two neighbours above 1.
    const UNIT: f64;
}

impl Half for f16 {
    fn nearest(number: f32) -> Self {
        f16::from_f32(number)
    }

    const UNIT: f64 = 1.0 / (1 << 10) as f64;
}

impl Half for bf16 {
    fn nearest(number: f32) -> Self {
        bf16::from_f32(number)
    }

    const UNIT: f64 = 1.0 / (1 << 7) as f64;
}

/// How far apart the elements of a product are that are compared: 1 if all are. Otherwise it has no
/// divisor in common with the number of columns, so that a column has a second one only where all
/// have one.
pub fn step([rows, deep, columns]: [usize; 3]) -> usize {
    let terms = rows as u128 * deep as u128 * columns as u128;
    let least = terms.div_ceil(MOST_TERMS) as usize;
    (least..).find(|step| divisor(*step, columns) == 1).unwrap_or(least)
}

/// The greatest common divisor.
fn divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { divisor(other, one % other) }
}

/// Compares each `step`-th element of the product of two matrices, row after row, and returns the
/// first difference if there is one. The left one has `deep` columns and the right one `columns`.
///
/// # Panics
///
/// If `deep`, `columns` or `step` is 0.
pub fn compare<T: Half>(
    [left, right]: [&[T]; 2],
    product: &[T],
    [deep, columns]: [usize; 2],
    step: usize,
) -> Option<Difference> {
    let right = transposed(right, columns);
    let range_at = |index: usize| {
        let (row, column) = (index / columns, index % columns);
        range(&left[row * deep..][..deep], &right[column * deep..][..deep])
    };
    let differs = |index: &usize| !is_within(product[*index], range_at(*index));
    let found = Mutex::new((usize::MAX, 0));
    parallel::for_each(0..product.len() / columns, |row| {
        let first = (row * columns).next_multiple_of(step);
        for index in (first..(row + 1) * columns).step_by(step).filter(differs) {
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            *found = (found.0.min(index), found.1 + 1);
        }
    });
    let (index, count) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    if count == 0 {
        return None;
    }
    let [low, high] = range_at(index);
    let expected = if low.same(&high) { low.text() } else { format!("{} to {}", low.text(), high.text()) };
    Some(Difference { index, got: product[index].text(), expected, count })
}

/// The least and the greatest number that a sum of products may be rounded to.
fn range<T: Half>(left: &[T], right: &[T]) -> [T; 2] {
    let (mut sum, mut magnitudes) = (0.0, 0.0);
    for (left, right) in left.iter().zip(right) {
        let term = Into::<f64>::into(*left) * Into::<f64>::into(*right);
        (sum, magnitudes) = (sum + term, magnitudes + term.abs());
    }
    // For each term a unit in the last place of all together; `f32` need not have smaller ones.
    let unit = magnitudes * 2_f64.powi(-23) + f64::from(f32::MIN_POSITIVE);
    let bound = left.len() as f64 * unit;
    // Of infinite terms there is no unit, and the sum is what it is. Rounding keeps the order, so
    // that what lies between both ends is between them when it is rounded, too.
    let ends = if sum.is_finite() { [sum - bound, sum + bound] } else { [sum; 2] };
    ends.map(|end| T::nearest(end as f32))
}

/// Whether a number is in a range, or is NaN as both of its ends are.
fn is_within<T: Half>(found: T, [low, high]: [T; 2]) -> bool {
    let [from, number, to] = [low, found, high].map(Into::<f32>::into);
    found.same(&low) || (from <= number && number <= to)
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeSet;

    fn halves<T: Half>(numbers: &[f32]) -> Vec<T> {
        numbers.iter().map(|number| T::nearest(*number)).collect()
    }

    #[test]
    fn a_product_is_right_within_the_bound_and_wrong_beyond_it() {
        // 2 x 3 by 3 x 2.
        let (left, right) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
        let (left, right) = (halves::<bf16>(&left), halves::<bf16>(&right));
        let check = |product: &[f32], step| compare([&left, &right], &halves(product), [3, 2], step);
        assert_eq!(check(&[4.0, 5.0, 10.0, 11.0], 1), None);
        let difference = check(&[4.0, 5.0, 11.0, 10.0], 1).unwrap();
        assert_eq!(difference.to_string(), "element 2 is 11.0, expected 10.0; 2 differ");
        assert_eq!(check(&[4.0, f32::NAN, 10.0, 11.0], 1).unwrap().index, 1);
        assert_eq!(check(&[4.0, 5.0, 10.0, 0.0], 3).unwrap().index, 3, "of the elements 0 and 3");
        assert_eq!(check(&[4.0, 5.0, 0.0, 11.0], 3), None, "it is not looked at");
    }

    #[test]
    fn the_bound_grows_with_the_magnitudes_and_not_with_the_sum() {
        let range = |left: &[f32], right: &[f32]| range::<f16>(&halves(left), &halves(right)).map(f32::from);
        assert_eq!(range(&[1.0], &[0.1]), [f16::from_f32(0.1).to_f32(); 2]);
        let [low, high] = range(&[2048.0, -2048.0], &[2048.0, 2048.0]);
        assert_eq!((low, high), (-2.0, 2.0), "2 terms, 2 * 2^22 in magnitude, of 24 bits");
        // Beyond the largest number, and so close to it that one end is rounded to it.
        assert_eq!(range(&[60000.0], &[2.0]), [f32::INFINITY; 2]);
        assert_eq!(range(&[65504.0, 16.0], &[1.0, 1.0]), [65504.0, f32::INFINITY]);
        // Smaller than the smallest normal `f32`.
        let [low, high] = super::range(&halves::<bf16>(&[1e-20]), &halves::<bf16>(&[1e-20])).map(f32::from);
        assert!(low < 0.0 && high > 1e-38, "{low} {high}");
    }

    #[test]
    fn what_is_no_number_comes_of_what_is_none() {
        let is_right = |left: &[f32], right: &[f32], found: f32| {
            compare([&halves::<f16>(left), &halves(right)], &[f16::from_f32(found)], [left.len(), 1], 1).is_none()
        };
        for (found, right) in [(f32::NAN, true), (f32::INFINITY, false), (0.0, false)] {
            assert_eq!(is_right(&[1.0, f32::NAN], &[1.0, 1.0], found), right, "{found}");
            assert_eq!(is_right(&[f32::INFINITY, 1.0], &[0.0, 1.0], found), right, "{found}");
        }
        for (found, right) in [(f32::INFINITY, true), (f32::NEG_INFINITY, false), (f32::NAN, false), (65504.0, false)] {
            assert_eq!(is_right(&[f32::INFINITY, 1.0], &[2.0, 1.0], found), right, "{found}");
        }
    }

    #[test]
    fn of_a_large_product_elements_of_as_many_columns_as_possible_are_compared() {
        assert_eq!(step([512; 3]), 1);
        for [rows, deep, columns] in [[8192; 3], [5000, 1 << 15, 7 * 11 * 13 * 32], [1 << 20, 1 << 13, 6]] {
            let step = step([rows, deep, columns]);
            assert!(step > 1 && (rows * columns / step * deep) as u128 <= MOST_TERMS, "{step}");
            let compared: Vec<usize> = (0..rows * columns).step_by(step).map(|index| index % columns).collect();
            assert_eq!(compared.iter().collect::<BTreeSet<_>>().len(), compared.len().min(columns), "{step}");
        }
    }
}
