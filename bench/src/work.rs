//! What the contestants compute.

use tilepipe_kernels::MULTIPLY_ADDS_TILE;
use tilepipe_runner::reference;
use tilepipe_runner::value::Value;

use crate::peers;

/// Elements in a tile of which each of the block's threads computes one.
pub const TILE: usize = peers::THREADS as usize;

/// What a kernel computes from its inputs, all of which have the length of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Three times each element and its right neighbour in its tile ([`reference::neighbour_sum`]).
    NeighbourSum {
        /// Elements in a tile.
        tile: usize,
    },
    /// The mean around each element ([`reference::moving_average`]).
    MovingAverage,
    /// Three times each element ([`reference::tripled`]).
    Triple,
    /// A chain of multiply-adds on each element ([`reference::multiply_adds`]).
    MultiplyAdds {
        /// How many.
        rounds: usize,
    },
    /// Three times each element of the first input and the right neighbour, in the tile, of the
    /// second's ([`reference::two_inputs`]).
    TwoInputs,
}

impl Work {
    /// Returns the number of inputs.
    pub const fn inputs(self) -> usize {
        match self {
            Work::TwoInputs => 2,
            _ => 1,
        }
    }

    /// Computes the output.
    ///
    /// # Panics
    ///
    /// If there are fewer inputs than [`inputs`](Work::inputs) says.
    pub fn compute<T: Value>(self, inputs: &[&[T]]) -> Vec<T> {
        match self {
            Work::NeighbourSum { tile } => reference::neighbour_sum(inputs[0], tile),
            Work::MovingAverage => reference::moving_average(inputs[0]),
            Work::Triple => reference::tripled(inputs[0]),
            Work::MultiplyAdds { rounds } => reference::multiply_adds(inputs[0], MULTIPLY_ADDS_TILE, rounds),
            Work::TwoInputs => reference::two_inputs(inputs[0], inputs[1], TILE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tilepipe::Vec4;

    #[test]
    fn the_second_input_gives_the_neighbour_which_wraps_in_the_tile_and_is_zero_beyond_the_end() {
        let left: Vec<i32> = (0..TILE as i32 + 2).collect();
        let right: Vec<i32> = left.iter().map(|value| 1000 * (value + 1)).collect();
        let out = Work::TwoInputs.compute(&[&left, &right]);
        assert_eq!((out[0], out[1]), (2000, 3 + 3000));
        assert_eq!(out[TILE - 1], 3 * 255 + 1000, "the tile's first");
        assert_eq!((out[TILE], out[TILE + 1]), (3 * 256 + 258_000, 3 * 257));
    }

    #[test]
    fn with_one_array_for_both_inputs_it_is_the_sum_of_neighbours() {
        let values: Vec<i32> = (0..1000).map(|value: i32| value.wrapping_mul(0x1234_5677)).collect();
        let one = Work::NeighbourSum { tile: TILE };
        assert_eq!(Work::TwoInputs.compute(&[&values, &values]), one.compute(&[&values]));
    }

    #[test]
    fn the_neighbour_wraps_in_the_tile_that_the_work_names() {
        let values: Vec<i32> = (0..TILE as i32).collect();
        let [halves, whole] = [TILE / 2, TILE].map(|tile| Work::NeighbourSum { tile }.compute(&[&values]));
        assert_eq!((halves[127], halves[255]), (3 * 127, 3 * 255 + 128), "the first of each half");
        assert_eq!((whole[127], whole[255]), (3 * 127 + 128, 3 * 255));
    }

    #[test]
    fn tripling_wraps_and_goes_lane_by_lane() {
        assert_eq!(Work::Triple.compute(&[&[1, -2, i32::MAX]]), [3, -6, i32::MAX.wrapping_mul(3)]);
        assert_eq!(Work::Triple.compute(&[&[Vec4([1, 2, 3, 4])]]), [Vec4([3, 6, 9, 12])]);
    }
}
