//! Histograms: how many elements fall into each bin.

use crate::value::{DType, Value};

/// Counts the bytes of each value.
///
/// # Panics
///
/// If the elements are no bytes.
pub fn histogram<T: Value>(input: &[T]) -> Vec<u32> {
    let bytes: &[u8] = bytemuck::cast_slice(input);
    assert_eq!(T::DTYPE, DType::U8, "a histogram of bytes");
    let mut counts = vec![0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] = counts[usize::from(*byte)].wrapping_add(1);
    }
    counts
}

/// Counts the keys in each of `bins` ranges of `2^shift` keys in a row, from 0 on; those beyond are
/// in none.
///
/// # Panics
///
/// If the elements are no `u32`.
pub fn histogram_of_keys<T: Value>(input: &[T], bins: usize, shift: u32) -> Vec<u32> {
    assert_eq!(T::DTYPE, DType::U32, "keys are `u32`");
    let keys: &[u32] = bytemuck::cast_slice(input);
    let mut counts = vec![0_u32; bins];
    for key in keys {
        if let Some(count) = counts.get_mut((*key >> shift) as usize) {
            *count = count.wrapping_add(1);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_keys_are_counted_where_they_belong() {
        let counts = histogram(&[3_u8, 255, 3, 0]);
        assert_eq!((counts.len(), counts[0], counts[3], counts[255]), (256, 1, 2, 1));
        assert_eq!(counts.iter().sum::<u32>(), 4);
        assert_eq!(histogram_of_keys(&[0_u32, 7, 8, 15, 16, u32::MAX], 2, 3), [2, 2]);
        assert_eq!(histogram_of_keys(&[0_u32, 1, 2, u32::MAX], 3, 0), [1, 1, 1]);
    }
}
