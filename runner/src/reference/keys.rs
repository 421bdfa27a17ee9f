//! Keys: where the largest element of each block's tiles is.

use crate::execute::parallel;
use crate::value::{DType, Value};

/// Finds the largest element of each block's tiles of `len` elements, and returns for each block
/// the element in an order that integers have, above all ones less its index; 0 for a block without
/// elements. The first NaN is larger than all; of equal elements it is the first.
///
/// # Panics
///
/// If the elements are no `f32`, or `len` or `grid` is 0.
pub fn argmax<T: Value>(input: &[T], len: usize, grid: usize) -> Vec<u64> {
    assert_eq!(T::DTYPE, DType::F32, "keys are of `f32`");
    let input: &[f32] = bytemuck::cast_slice(input);
    each_block(input.len(), len, grid, |own| {
        let mut best: Option<(usize, f32)> = None;
        for index in own {
            let value = input[index];
            let is_larger = best.is_none_or(|(_, best)| !best.is_nan() && (value.is_nan() || value > best));
            if is_larger {
                best = Some((index, value));
            }
        }
        best.map_or(0, |(index, value)| (u64::from(place(value)) << 32) + (u64::from(u32::MAX) - index as u64))
    })
}

/// Finds the largest of the numbers in each block's tiles of `len`; 0 for a block without numbers.
///
/// # Panics
///
/// If the elements are no `u64`, or `len` or `grid` is 0.
pub fn largest_key<T: Value>(input: &[T], len: usize, grid: usize) -> Vec<T> {
    assert_eq!(T::DTYPE, DType::U64, "a key is a `u64`");
    let input: &[u64] = bytemuck::cast_slice(input);
    let largest = each_block(input.len(), len, grid, |own| own.map(|index| input[index]).max().unwrap_or(0));
    bytemuck::cast_slice(&largest).to_vec()
}

/// The place of a float among all: of a number its distance from the least, by its magnitude's
/// bits; of a NaN the last place.
fn place(value: f32) -> u32 {
    const HALF: u32 = 1 << 31;
    let magnitude = value.abs().to_bits();
    match value {
        _ if value.is_nan() => u32::MAX,
        _ if value < 0.0 => HALF - 1 - magnitude,
        _ => HALF + magnitude,
    }
}

/// One result for each of `grid` blocks, of the indices of its elements in their order.
fn each_block(
    elements: usize,
    len: usize,
    grid: usize,
    result: impl Fn(&mut dyn Iterator<Item = usize>) -> u64 + Sync,
) -> Vec<u64> {
    let tiles = elements.div_ceil(len);
    let mut out = vec![0; grid];
    parallel::fill(&mut out, 1, |block| {
        let own = (block..tiles).step_by(grid).flat_map(|tile| tile * len..elements.min((tile + 1) * len));
        result(&mut { own })
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The index in a key.
    fn index(key: u64) -> u64 {
        u64::from(u32::MAX) - key % (1 << 32)
    }

    #[test]
    fn the_first_of_the_largest_is_found_in_each_blocks_tiles() {
        let input = [1.0_f32, 5.0, -2.0, 5.0, 7.0, f32::NEG_INFINITY, 7.0];
        assert_eq!(argmax(&input, 2, 1).into_iter().map(index).collect::<Vec<_>>(), [4]);
        // Tiles of two: those of the first block begin at 0 and 4, those of the second at 2 and 6.
        assert_eq!(argmax(&input, 2, 2).into_iter().map(index).collect::<Vec<_>>(), [4, 6]);
        assert_eq!(argmax(&input, 4, 3)[2], 0);
        assert_eq!(index(argmax(&[3.0, f32::NAN, f32::INFINITY, -f32::NAN], 8, 1)[0]), 1);
        assert_eq!(index(argmax(&[-0.0_f32, 0.0], 8, 1)[0]), 0);
        assert_eq!(argmax(&[-0.0_f32], 8, 1), argmax(&[0.0_f32], 8, 1));
    }

    #[test]
    fn keys_are_those_of_the_device() {
        for value in [0.0, -0.0, 1.0, -1.0, f32::MIN, f32::MAX, 1e-40, -1e-40, f32::INFINITY, -f32::INFINITY, f32::NAN]
        {
            assert_eq!(argmax(&[value], 1, 1), [tilepipe::key::argmax(value, 0)], "{value}");
        }
        assert_eq!(largest_key(&[3_u64, 9, 4], 2, 2), [9, 4]);
    }
}
