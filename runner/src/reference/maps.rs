//! Kernels whose output has one element for each of the input.

use crate::data;
use crate::execute::parallel;
use crate::value::{Scalar, Value};

/// Elements that `moving_average` reads on either side of each.
pub const MOVING_AVERAGE_RADIUS: usize = 8;

/// Fewest elements for a task of its own.
const TASK: usize = 4096;

/// Makes an output of `len` elements from what `element` returns for each index.
fn map<T: Value>(len: usize, element: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    let mut out = vec![T::zero(); len];
    parallel::fill(&mut out, TASK, element);
    out
}

/// Adds three times each element and its right neighbour in its tile; the tile's last element has
/// its first as neighbour, and what lies beyond the end of `input` counts as zero.
///
/// # Panics
///
/// If `tile` is 0.
pub fn neighbour_sum<T: Value>(input: &[T], tile: usize) -> Vec<T> {
    two_inputs(input, input, tile)
}

/// Adds three times each element of `left` and the right neighbour, in the tile, of `right`'s; the
/// tile's last element has its first as neighbour, and what lies beyond the end of `right` counts
/// as zero.
///
/// # Panics
///
/// If `tile` is 0.
pub fn two_inputs<T: Value>(left: &[T], right: &[T], tile: usize) -> Vec<T> {
    with_neighbours(left, right, tile, T::Lane::neighbour_sum)
}

/// Combines, lane by lane, each element of `left` and the right neighbour, in the tile, of
/// `right`'s; the tile's last element has its first as neighbour, and what lies beyond the end of
/// `right` counts as zero.
fn with_neighbours<T: Value>(
    left: &[T],
    right: &[T],
    tile: usize,
    combine: impl Fn(T::Lane, T::Lane) -> T::Lane + Send + Sync,
) -> Vec<T> {
    map(left.len(), |index| {
        let start = index / tile * tile;
        let (own, next) = (&left[index], right.get(start + (index - start + 1) % tile));
        T::from_lanes(|lane| combine(own.lane(lane), next.map_or(T::Lane::ZERO, |value| value.lane(lane))))
    })
}

/// `rounds` times three quarters of what there is and the right neighbour in the tile, each step
/// rounded once; the tile's last element has its first as neighbour, and what lies beyond the end
/// of `input` counts as zero.
///
/// # Panics
///
/// If `tile` is 0.
pub fn multiply_adds<T: Value>(input: &[T], tile: usize, rounds: usize) -> Vec<T> {
    let chain = |own, next| (0..rounds).fold(own, |value: T::Lane, _| value.three_quarters_plus(next));
    with_neighbours(input, input, tile, chain)
}

/// Three times each element.
pub fn tripled<T: Value>(input: &[T]) -> Vec<T> {
    map(input.len(), |index| input[index].triple())
}

/// Each element as it is.
pub fn copied<T: Value>(input: &[T]) -> Vec<T> {
    input.to_vec()
}

/// For each of `count` elements that of the table whose number [`data::index`] says.
///
/// # Panics
///
/// If the table is empty and `count` is not 0.
pub fn gathered<T: Value>(table: &[T], count: usize) -> Vec<T> {
    map(count, |nth| table[data::index(nth, table.len()) as usize])
}

/// The filter of so many elements that a convolution is launched with: whole numbers that fall from
/// `taps` to 1, so that one which is read backwards shows.
pub fn filter<T: Value>(taps: u8) -> Vec<T> {
    (1..=taps).rev().map(|number| T::from_lanes(|_| T::Lane::whole(number))).collect()
}

/// The sum of the elements around each, as many as [`filter`] has, each times its number of the
/// filter, lane by lane. It runs from left to right, and a product is added with one rounding; what
/// lies beyond the ends counts as zero.
///
/// # Panics
///
/// If there are more than 255 of them.
pub fn convolved<T: Value>(input: &[T], taps: usize) -> Vec<T> {
    let filter: Vec<T> = filter(u8::try_from(taps).expect("a filter's numbers are whole ones up to 255"));
    map(input.len(), |index| {
        T::from_lanes(|lane| {
            filter.iter().enumerate().fold(T::Lane::ZERO, |sum, (tap, weight)| {
                let position = (index + tap).checked_sub(taps / 2);
                let value = position.and_then(|position| input.get(position));
                value.map_or(T::Lane::ZERO, |value| value.lane(lane)).times_plus(weight.lane(lane), sum)
            })
        })
    })
}

/// From the end to the start.
pub fn backwards<T: Value>(input: &[T]) -> Vec<T> {
    input.iter().rev().copied().collect()
}

/// Each tile backwards; what lies beyond the end of `input` counts as zero.
///
/// # Panics
///
/// If `tile` is 0.
pub fn reversed<T: Value>(input: &[T], tile: usize) -> Vec<T> {
    map(input.len(), |index| {
        let mirrored = index / tile * tile + (tile - 1 - index % tile);
        input.get(mirrored).copied().unwrap_or_else(T::zero)
    })
}

/// The mean of each element and the [`MOVING_AVERAGE_RADIUS`] elements on either side, summed from
/// left to right; what lies beyond the ends counts as zero.
pub fn moving_average<T: Value>(input: &[T]) -> Vec<T> {
    let taps = 2 * MOVING_AVERAGE_RADIUS + 1;
    map(input.len(), |index| {
        T::from_lanes(|lane| {
            let mut sum = T::Lane::ZERO;
            for tap in 0..taps {
                let position = (index + tap).checked_sub(MOVING_AVERAGE_RADIUS);
                let value = position.and_then(|position| input.get(position));
                sum = sum.plus(value.map_or(T::Lane::ZERO, |value| value.lane(lane)));
            }
            T::Lane::mean_of_window(sum, taps as u16)
        })
    })
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
    fn multiply_adds_take_three_quarters_and_the_neighbour_and_round_once() {
        assert_eq!(multiply_adds(&[16.0_f32, 8.0, 2.0], 2, 0), [16.0, 8.0, 2.0]);
        assert_eq!(multiply_adds(&[16.0_f32, 8.0, 2.0], 2, 2), [(12.0 + 8.0) * 0.75 + 8.0, 32.5, 1.125]);
        assert_eq!(multiply_adds(&[9, 4], 2, 2), [(7 + 4) - 2 + 4, (3 + 9) - 3 + 9]);
        // The product is 0.75 and 0.75 epsilon; rounded by itself it would be half an epsilon or
        // one.
        let own = 1.0 + f32::EPSILON;
        assert_eq!(multiply_adds(&[own, -0.75], 2, 1)[0], 0.75 * f32::EPSILON);
    }

    #[test]
    fn the_second_input_gives_the_neighbours() {
        assert_eq!(two_inputs(&[1, 2, 3, 4, 5], &[10, 20, 30, 40, 50], 3), [23, 36, 19, 62, 15]);
    }

    #[test]
    fn vectors_go_lane_by_lane() {
        let input = [Vec4([1, 2, 3, 4]), Vec4([10, 20, 30, 40])];
        assert_eq!(neighbour_sum(&input, 2), [Vec4([13, 26, 39, 52]), Vec4([31, 62, 93, 124])]);
        assert_eq!(tripled(&input[..1]), [Vec4([3, 6, 9, 12])]);
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
    fn a_gather_reads_what_the_indices_say() {
        let table: Vec<i32> = (100..107).collect();
        let expected: Vec<i32> = (0..20).map(|nth| 100 + data::index(nth, 7) as i32).collect();
        assert_eq!(gathered(&table, 20), expected);
        assert_eq!(gathered::<i32>(&[], 0), []);
    }

    #[test]
    fn a_convolution_takes_the_filter_from_left_to_right_and_rounds_once() {
        assert_eq!(filter::<f32>(3), [3.0, 2.0, 1.0]);
        assert_eq!(convolved(&[1, 10, 100, 1000], 3), [2 + 10, 3 + 20 + 100, 30 + 200 + 1000, 300 + 2000]);
        assert_eq!(convolved(&[i32::MAX, 0, 0], 3), [i32::MAX.wrapping_mul(2), i32::MAX.wrapping_mul(3), 0]);
        // Three times this rounds up to 3 + 4 epsilon, of which 2 times as much and 2 epsilon leave
        // 1 epsilon; rounded once it is 3 epsilon less 2.
        let value = 1.0 + f32::EPSILON;
        assert_eq!(convolved(&[value, -1.5], 3)[1], value.mul_add(3.0, 0.0) - 3.0);
        assert_eq!(convolved(&[0.1_f32, 0.7], 3)[1], 0.7_f32.mul_add(2.0, 0.1_f32.mul_add(3.0, 0.0)));
    }

    #[test]
    fn a_partial_tile_backwards_begins_with_zeros() {
        assert_eq!(reversed(&[1, 2, 3, 4, 5], 3), [3, 2, 1, 0, 5]);
    }
}
