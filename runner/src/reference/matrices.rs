//! Kernels over matrices, batches of them and pictures, row after row.

use crate::execute::parallel;
use crate::value::{Scalar, Value};

/// The transpose of rows of `width` elements.
///
/// # Panics
///
/// If `width` is 0.
pub fn transposed<T: Value>(input: &[T], width: usize) -> Vec<T> {
    let height = input.len() / width;
    rows(width, height, |row, column| input[column * width + row])
}

/// The transpose of each matrix of a batch, each of `height` rows of `width` elements.
///
/// # Panics
///
/// If `height` or `width` is 0.
pub fn batched_transposed<T: Value>(input: &[T], height: usize, width: usize) -> Vec<T> {
    let matrices = input.len() / (height * width);
    // The rows of all matrices, one matrix after the other.
    rows(matrices * width, height, |row, column| {
        let (matrix, row) = (row / width, row % width);
        input[(matrix * height + column) * width + row]
    })
}

/// Adds three times each element and those above, left, right and below, in this order; beyond the
/// edges of rows of `width` elements there are zeros.
///
/// # Panics
///
/// If `width` is 0.
pub fn stencil<T: Value>(input: &[T], width: usize) -> Vec<T> {
    with_neighbours(input, width, [(-1, 0), (0, -1), (0, 1), (1, 0)])
}

/// Adds three times each element and its eight neighbours, row by row; beyond the edges of rows of
/// `width` elements there are zeros.
///
/// # Panics
///
/// If `width` is 0.
pub fn stencil_3x3<T: Value>(input: &[T], width: usize) -> Vec<T> {
    with_neighbours(input, width, [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)])
}

/// Adds three times each element and those so many rows and columns away, in this order.
fn with_neighbours<T: Value, const COUNT: usize>(
    input: &[T],
    width: usize,
    neighbours: [(isize, isize); COUNT],
) -> Vec<T> {
    let height = input.len() / width;
    rows(height, width, |row, column| {
        neighbours.iter().fold(input[row * width + column].triple(), |sum, (down, right)| {
            let beside = (row.checked_add_signed(*down), column.checked_add_signed(*right));
            sum.plus(match beside {
                (Some(row), Some(column)) if row < height && column < width => input[row * width + column],
                _ => T::zero(),
            })
        })
    })
}

/// The factor of a matrix product.
pub const ALPHA: u8 = 2;

/// [`ALPHA`] times the product of two matrices, of which the left one has `width` elements in a row
/// and the right one `columns`: for each element a sum in order of the left one's columns, to which
/// a product is added with one rounding.
///
/// # Panics
///
/// If `width` or `columns` is 0.
pub fn product<T: Value>(left: &[T], right: &[T], width: usize, columns: usize) -> Vec<T> {
    let mut out = vec![T::zero(); left.len() / width * columns];
    let alpha = T::Lane::whole(ALPHA);
    parallel::for_each(out.chunks_mut(columns).zip(left.chunks_exact(width)), |(sums, left)| {
        for (factor, right) in left.iter().zip(right.chunks_exact(columns)) {
            for (sum, value) in sums.iter_mut().zip(right) {
                *sum = T::from_lanes(|lane| factor.lane(lane).times_plus(value.lane(lane), sum.lane(lane)));
            }
        }
        for sum in sums {
            *sum = T::from_lanes(|lane| alpha.times(sum.lane(lane)));
        }
    });
    out
}

/// The sum of each column of rows of `width` elements.
///
/// # Panics
///
/// If `width` is 0.
pub fn column_sums<T: Value>(input: &[T], width: usize) -> Vec<T> {
    /// Columns that are summed side by side: a row of them is read in one go.
    const SIDE_BY_SIDE: usize = 64;
    let mut sums = vec![T::zero(); width];
    parallel::for_each(sums.chunks_mut(SIDE_BY_SIDE).enumerate(), |(chunk, sums)| {
        for row in input.chunks_exact(width) {
            for (sum, value) in sums.iter_mut().zip(&row[SIDE_BY_SIDE * chunk..]) {
                *sum = sum.plus(*value);
            }
        }
    });
    sums
}

/// Blurs rows of `width` bytes, `channels` for each pixel: the mean of the 5 x 5 pixels around
/// each, weighted 1, 4, 6, 4, 1 in both directions and rounded to the nearest. A pixel beyond the
/// border is that of the border which is the nearest to it. A row may end with a part of a pixel:
/// each channel has a last byte of its own.
///
/// # Panics
///
/// If `width` or `channels` is 0, or the elements are no bytes.
pub fn blurred<T: Value>(input: &[T], width: usize, channels: usize) -> Vec<T> {
    const WEIGHTS: [(isize, u32); 5] = [(-2, 1), (-1, 4), (0, 6), (1, 4), (2, 1)];
    let bytes: &[u8] = bytemuck::cast_slice(input);
    assert_eq!(bytes.len(), input.len(), "a blur is of bytes");
    let height = bytes.len() / width;
    let nearest = |wanted: isize, count: usize| wanted.clamp(0, count as isize - 1) as usize;
    rows(height, width, |row, column| {
        let (pixel, channel) = (column / channels, column % channels);
        let pixels = (width - channel).div_ceil(channels);
        let mut sum = 0;
        for (down, of_row) in WEIGHTS {
            let row = nearest(row as isize + down, height);
            for (right, of_column) in WEIGHTS {
                let pixel = nearest(pixel as isize + right, pixels);
                sum += of_row * of_column * u32::from(bytes[row * width + pixel * channels + channel]);
            }
        }
        let mean = ((sum + 128) / 256) as u8;
        bytemuck::pod_read_unaligned(&[mean])
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
    fn rows_of_each_matrix_become_its_columns() {
        let batch = [1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60];
        assert_eq!(batched_transposed(&batch, 2, 3), [1, 4, 2, 5, 3, 6, 10, 40, 20, 50, 30, 60]);
        assert_eq!(batched_transposed(&batch, 12, 1), batch);
        assert_eq!(batched_transposed(&batch, 1, 1), batch);
        let numbers: Vec<i32> = (0..7 * 13 * 20).collect();
        let one_by_one: Vec<i32> = numbers.chunks(13 * 20).flat_map(|matrix| transposed(matrix, 20)).collect();
        assert_eq!(batched_transposed(&numbers, 13, 20), one_by_one);
    }

    #[test]
    fn columns_are_summed_over_all_rows() {
        assert_eq!(column_sums(&[1, 20, 300, 4, 50, 600], 3), [5, 70, 900]);
        assert_eq!(column_sums(&[1, i32::MAX, 2], 1), [i32::MIN + 2]);
        let rows: Vec<i32> = (0..7 * 150).collect();
        let expected: Vec<i32> = (0..150).map(|column| 7 * column + 150 * 21).collect();
        assert_eq!(column_sums(&rows, 150), expected);
    }

    #[test]
    fn a_blur_spreads_a_pixel_over_25_and_goes_on_beyond_the_border() {
        let mut picture = [0_u8; 7 * 7];
        picture[3 * 7 + 3] = 255;
        let of_rows = [0, 1, 4, 6, 4, 1, 0];
        let expected = |index: usize| (of_rows[index / 7] * of_rows[index % 7] * 255 + 128) / 256;
        let blurred = blurred(&picture, 7, 1);
        assert!((0..49).all(|index| i32::from(blurred[index]) == expected(index)), "{blurred:?}");
        for (height, width, channels) in [(1, 1, 1), (1, 1, 3), (3, 2, 1), (4, 7, 3), (2, 12, 3)] {
            let constant: Vec<u8> = (0..height * width).map(|index| [250, 7, 99][index % width % channels]).collect();
            assert_eq!(super::blurred(&constant, width, channels), constant, "{height} x {width} by {channels}");
        }
        // 16 sixteenths of 16 rows: 11 and 5 of the two columns.
        assert_eq!(super::blurred(&[0_u8, 160], 2, 1), [50, 110]);
        assert_eq!(super::blurred(&[0_u8, 9, 160, 9], 4, 2), [50, 9, 110, 9]);
    }

    #[test]
    fn the_stencil_has_five_points_and_zeros_around() {
        assert_eq!(stencil(&[0, 0, 0, 0, 1, 0, 0, 0, 0], 3), [0, 1, 0, 1, 3, 1, 0, 1, 0]);
        assert_eq!(stencil(&[1, 10, 100, 1000], 2), [113, 1031, 1301, 3110]);
        assert_eq!(stencil(&[1, 10, 100], 1), [13, 131, 310]);
        assert_eq!(stencil(&[1, 10, 100], 3), [13, 131, 310]);
    }

    #[test]
    fn the_stencil_of_3_x_3_has_nine_points_and_zeros_around() {
        assert_eq!(stencil_3x3(&[0, 0, 0, 0, 1, 0, 0, 0, 0], 3), [1, 1, 1, 1, 3, 1, 1, 1, 1]);
        assert_eq!(stencil_3x3(&[1, 10, 100, 1000], 2), [1113, 1131, 1311, 3111]);
        assert_eq!(stencil_3x3(&[1, 10, 100], 1), [13, 131, 310]);
        // Row by row: 2^24 and 1 is 2^24 in f32, and each further 1 is lost, too.
        let ordered = [16_777_216.0_f32, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        assert_eq!(stencil_3x3(&ordered, 3)[4], 16_777_216.0);
    }
}
