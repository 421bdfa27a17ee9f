//! What each kernel must compute, as plain loops over the whole array, and the comparison with what it did compute.

use rayon::prelude::*;

use crate::value::{Scalar, Value};

/// Elements that `moving_average` reads on either side of each.
pub const MOVING_AVERAGE_RADIUS: usize = 8;

/// What a kernel computes from its one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reference {
    /// [`neighbour_sum`] over tiles of this many elements.
    NeighbourSum {
        /// Elements in a tile, which is also the threads of a block.
        tile: usize,
    },
    /// [`moving_average`], whatever the block's size.
    MovingAverage,
}

impl Reference {
    /// Returns what the kernel of this name computes with blocks of `block` threads, or `None` for an unknown name.
    pub fn of_kernel(kernel: &str, block: usize) -> Option<Self> {
        match kernel {
            "without_memcpy_async" | "with_single_stage" | "with_staging" | "with_staging_unified" => {
                Some(Reference::NeighbourSum { tile: block })
            }
            "moving_average" => Some(Reference::MovingAverage),
            _ => None,
        }
    }

    /// Computes the output for `input`.
    pub fn compute<T: Value>(self, input: &[T]) -> Vec<T> {
        match self {
            Reference::NeighbourSum { tile } => neighbour_sum(input, tile),
            Reference::MovingAverage => moving_average(input),
        }
    }
}

/// Adds three times each element and its right neighbour in its tile; the tile's last element has its first as
/// neighbour, and what lies beyond the end of `input` counts as zero.
///
/// # Panics
///
/// If `tile` is 0.
pub fn neighbour_sum<T: Value>(input: &[T], tile: usize) -> Vec<T> {
    input
        .par_iter()
        .enumerate()
        .with_min_len(4096)
        .map(|(index, own)| {
            let start = index / tile * tile;
            let next = input.get(start + (index - start + 1) % tile);
            T::from_lanes(|lane| {
                let neighbour = next.map_or(T::Lane::ZERO, |value| value.lane(lane));
                T::Lane::neighbour_sum(own.lane(lane), neighbour)
            })
        })
        .collect()
}

/// The mean of each element and the [`MOVING_AVERAGE_RADIUS`] elements on either side, summed from left to right; what
/// lies beyond the ends counts as zero.
pub fn moving_average<T: Value>(input: &[T]) -> Vec<T> {
    let taps = 2 * MOVING_AVERAGE_RADIUS + 1;
    (0..input.len())
        .into_par_iter()
        .with_min_len(4096)
        .map(|index| {
            T::from_lanes(|lane| {
                let mut sum = T::Lane::ZERO;
                for tap in 0..taps {
                    let position = (index + tap).checked_sub(MOVING_AVERAGE_RADIUS);
                    let value = position.and_then(|position| input.get(position));
                    sum = sum.plus(value.map_or(T::Lane::ZERO, |value| value.lane(lane)));
                }
                T::Lane::mean_of_window(sum, taps as u32)
            })
        })
        .collect()
}

/// How an output differs from what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first element that differs.
    pub index: usize,
    /// What the kernel wrote there.
    pub got: String,
    /// What the reference has there.
    pub expected: String,
    /// How many elements differ.
    pub count: usize,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { index, got, expected, count } = self;
        write!(f, "element {index} is {got}, expected {expected}; {count} differ")
    }
}

/// Compares bit for bit, with any NaN equal to any other, and returns the first difference if there is one.
///
/// Where one is shorter, its missing elements count as different.
pub fn compare<T: Value>(got: &[T], expected: &[T]) -> Option<Difference> {
    let (first, count) = got
        .par_iter()
        .zip(expected)
        .with_min_len(4096)
        .enumerate()
        .filter(|(_, (got, expected))| !got.same(expected))
        .map(|(index, _)| (index, 1))
        .reduce(|| (usize::MAX, 0), |one, other| (one.0.min(other.0), one.1 + other.1));
    let count = count + got.len().abs_diff(expected.len());
    if count == 0 {
        return None;
    }
    let index = first.min(got.len().min(expected.len()));
    let text = |values: &[T]| values.get(index).map_or_else(|| "missing".to_owned(), Value::text);
    Some(Difference { index, got: text(got), expected: text(expected), count })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilepipe::Vec4;

    #[test]
    fn neighbours_wrap_within_a_tile_and_are_zero_beyond_the_end() {
        assert_eq!(neighbour_sum(&[1, 10, 100, 2, 20], 3), [13, 130, 301, 26, 60]);
        assert_eq!(neighbour_sum(&[i32::MAX], 1), [i32::MAX.wrapping_mul(4)]);
        assert_eq!(neighbour_sum(&[5u32], 4), [15]);
        assert_eq!(neighbour_sum::<f64>(&[], 4), []);
    }

    #[test]
    fn vectors_go_lane_by_lane() {
        let input = [Vec4([1, 2, 3, 4]), Vec4([10, 20, 30, 40])];
        assert_eq!(neighbour_sum(&input, 2), [Vec4([13, 26, 39, 52]), Vec4([31, 62, 93, 124])]);
    }

    #[test]
    fn the_average_has_seventeen_taps() {
        let mut input = vec![0i32; 40];
        input[20] = 17;
        let output = moving_average(&input);
        let ones: Vec<usize> = (0..40).filter(|&index| output[index] == 1).collect();
        assert_eq!(ones, (12..=28).collect::<Vec<_>>());
        assert_eq!(moving_average(&[-35i32]), [-2], "truncates towards zero");
        assert_eq!(moving_average(&[1.0f32]), [1.0 / 17.0]);
    }

    #[test]
    fn the_first_difference_and_the_count_are_found() {
        let expected: Vec<i32> = (0..100_000).collect();
        assert_eq!(compare(&expected, &expected), None);
        let mut got = expected.clone();
        got[70_000] = -1;
        got[8_191] = -2;
        let difference = compare(&got, &expected).unwrap();
        assert_eq!(difference.to_string(), "element 8191 is -2, expected 8191; 2 differ");
        assert_eq!(compare(&expected[..9], &expected[..10]).unwrap().index, 9);
    }

    #[test]
    fn every_known_kernel_has_a_reference() {
        assert_eq!(Reference::of_kernel("with_staging", 256), Some(Reference::NeighbourSum { tile: 256 }));
        assert_eq!(Reference::of_kernel("no_such_kernel", 256), None);
    }
}
