//! Kernels over matrices, row after row.

use crate::execute::parallel;
use crate::value::Value;

/// The transpose of rows of `width` elements.
///
/// # Panics
///
/// If `width` is 0.
pub fn transposed<T: Value>(input: &[T], width: usize) -> Vec<T> {
    let height = input.len() / width;
    rows(width, height, |row, column| input[column * width + row])
}

/// Adds three times each element and those above, left, right and below, in this order; beyond the
/// edges of rows of `width` elements there are zeros.
///
/// # Panics
///
/// If `width` is 0.
pub fn stencil<T: Value>(input: &[T], width: usize) -> Vec<T> {
    let height = input.len() / width;
    let at = |row: Option<usize>, column: Option<usize>| match (row, column) {
        (Some(row), Some(column)) if row < height && column < width => input[row * width + column],
        _ => T::zero(),
    };
    rows(height, width, |row, column| {
        let (own_row, own_column) = (Some(row), Some(column));
        let sum = at(own_row, own_column).triple().plus(at(row.checked_sub(1), own_column));
        let sum = sum.plus(at(own_row, column.checked_sub(1))).plus(at(own_row, Some(column + 1)));
        sum.plus(at(Some(row + 1), own_column))
    })
}

/// Makes `height` rows of `width` elements.
fn rows<T: Value>(height: usize, width: usize, element: impl Fn(usize, usize) -> T + Sync) -> Vec<T> {
    let mut out = vec![T::zero(); height * width];
    parallel::for_each(out.chunks_mut(width).enumerate(), |(row, elements)| {
        for (column, value) in elements.iter_mut().enumerate() {
            *value = element(row, column);
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        assert_eq!(transposed(&[1, 2, 3, 4, 5, 6], 3), [1, 4, 2, 5, 3, 6]);
        assert_eq!(transposed(&[1.0, 2.0], 1), [1.0, 2.0]);
    }

    #[test]
    fn the_stencil_has_five_points_and_zeros_around() {
        assert_eq!(stencil(&[0, 0, 0, 0, 1, 0, 0, 0, 0], 3), [0, 1, 0, 1, 3, 1, 0, 1, 0]);
        assert_eq!(stencil(&[1, 10, 100, 1000], 2), [113, 1031, 1301, 3110]);
        assert_eq!(stencil(&[1, 10, 100], 1), [13, 131, 310]);
        assert_eq!(stencil(&[1, 10, 100], 3), [13, 131, 310]);
    }
}
