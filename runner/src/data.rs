//! Reproducible input data, and the poison that outputs start from.

use crate::execute::parallel;
use crate::stdout::counted;
use crate::value::{Scalar, Value};

/// The seed of [`generate`] unless another is given.
pub const DEFAULT_SEED: u64 = 0x7469_6c65_7069_7065;

/// The byte that fills every output before a run, so that an element which no thread wrote is seen.
pub const POISON: u8 = 0xA5;

/// Makes `elements` elements; element `i` depends on `seed` and `i` alone, so a shorter run is a
/// prefix of a longer one.
///
/// # Errors
///
/// A message with the size if the memory cannot be reserved.
pub fn generate<T: Value>(elements: usize, seed: u64) -> Result<Vec<T>, String> {
    let mut values = reserve(elements)?;
    values.resize(elements, T::zero());
    parallel::fill(&mut values, 4096, |index| element(index, seed));
    Ok(values)
}

/// Makes `count` inputs of one kernel, each as [`generate`] does with a seed of its own; the first
/// one's is `seed`.
///
/// # Errors
///
/// A message with the size if the memory cannot be reserved.
pub fn inputs<T: Value>(count: usize, elements: usize, seed: u64) -> Result<Vec<Vec<T>>, String> {
    // Neighbouring seeds would give the same numbers, one place further.
    (0..count).map(|number| generate(elements, seed.rotate_left(8 * number as u32))).collect()
}

/// The index that a gather reads for element `nth` of its output, of a table of `len` elements: in
/// no order, so that some elements are read several times and others not at all. It depends on both
/// alone.
///
/// # Panics
///
/// If `len` is 0.
pub fn index(nth: usize, len: usize) -> u32 {
    assert!(len > 0, "an empty table has no index");
    let places = (len as u64).min(1 << 32);
    // The upper half of the product of 32 random bits and the number of places is below that.
    (((mix(DEFAULT_SEED.wrapping_add(nth as u64)) >> 32) * places) >> 32) as u32
}

/// Makes the [`index`] of each of `count` elements.
///
/// # Errors
///
/// A message with the size if the memory cannot be reserved.
pub fn indices(count: usize, len: usize) -> Result<Vec<u32>, String> {
    let mut indices = reserve(count)?;
    indices.resize(count, 0);
    parallel::fill(&mut indices, 4096, |nth| index(nth, len));
    Ok(indices)
}

/// Reserves room for `elements` elements.
///
/// # Errors
///
/// A message with the size if the memory cannot be reserved.
pub fn reserve<T: Value>(elements: usize) -> Result<Vec<T>, String> {
    let mut values = Vec::new();
    match values.try_reserve_exact(elements) {
        Ok(()) => Ok(values),
        Err(_) => Err(format!(
            "no memory for {elements} elements of {} ({} each); choose fewer with --elements",
            T::DTYPE,
            counted(T::DTYPE.bytes(), "byte")
        )),
    }
}

fn element<T: Value>(index: usize, seed: u64) -> T {
    let lanes = T::DTYPE.lanes();
    T::from_lanes(|lane| T::Lane::generate(mix(seed.wrapping_add((index * lanes + lane) as u64))))
}

/// SplitMix64's output function over a Weyl sequence: 64 random-looking bits for every position.
fn mix(position: u64) -> u64 {
    let mut bits = position.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilepipe::Vec4;

    #[test]
    fn a_shorter_run_is_a_prefix_of_a_longer_one() {
        let long: Vec<i32> = generate(10_000, 7).unwrap();
        let short: Vec<i32> = generate(777, 7).unwrap();
        assert_eq!(short, long[..777]);
        assert_ne!(short, generate::<i32>(777, 8).unwrap());
    }

    #[test]
    fn the_inputs_of_a_kernel_have_nothing_in_common() {
        let inputs = inputs::<u64>(2, 1000, DEFAULT_SEED).unwrap();
        assert_eq!(inputs[0], generate::<u64>(1000, DEFAULT_SEED).unwrap());
        assert!(inputs[0].iter().all(|value| !inputs[1].contains(value)));
    }

    #[test]
    fn indices_are_below_the_length_and_in_no_order() {
        assert_eq!(indices(5, 1).unwrap(), [0; 5]);
        for len in [3_usize, 1000, 1 << 20] {
            let indices = indices(1000, len).unwrap();
            assert!(indices.iter().all(|index| (*index as usize) < len), "{len}");
            assert!(!indices.is_sorted() && indices.iter().any(|index| *index as usize >= len / 2), "{len}");
        }
        assert!((0..1000).any(|nth| index(nth, usize::MAX) > u32::MAX / 2));
    }

    #[test]
    fn floats_are_finite_and_vary() {
        let values: Vec<Vec4<f32>> = generate(1000, 1).unwrap();
        assert!(values.iter().all(|value| value.0.iter().all(|lane| lane.abs() <= 1000.0)));
        assert!(values.iter().any(|value| value.0[0] < 0.0) && values.iter().any(|value| value.0[3] > 0.0));
    }

    #[test]
    fn an_impossible_size_is_a_message() {
        assert!(generate::<f64>(usize::MAX / 8, 0).unwrap_err().contains("--elements"));
    }
}
