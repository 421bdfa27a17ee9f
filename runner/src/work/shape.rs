//! How many elements an array has, and how they lie.

use std::fmt;

/// The number and arrangement of an array's elements. None is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// So many elements in a row.
    Row(usize),
    /// Rows of equal length.
    Matrix {
        /// Rows.
        height: usize,
        /// Elements in a row.
        width: usize,
    },
    /// Matrices of equal size.
    Batch {
        /// Matrices.
        matrices: usize,
        /// Rows of a matrix.
        height: usize,
        /// Elements in a row.
        width: usize,
    },
}

impl Shape {
    /// Returns a shape of so many dimensions, 1 to 3, and at most `elements` elements:
    /// [`Shape::Row`] of all of them, [`Shape::matrix_of`] or [`Shape::batch_of`].
    ///
    /// # Panics
    ///
    /// If `elements` is 0 and there are several dimensions.
    pub fn of(elements: usize, dimensions: usize) -> Shape {
        match dimensions {
            1 => Shape::Row(elements),
            2 => Shape::matrix_of(elements),
            _ => Shape::batch_of(elements),
        }
    }

    /// Returns 1 for a row, 2 for a matrix and 3 for a batch.
    pub const fn dimensions(self) -> usize {
        match self {
            Shape::Row(_) => 1,
            Shape::Matrix { .. } => 2,
            Shape::Batch { .. } => 3,
        }
    }

    /// Returns the number of elements.
    pub const fn elements(self) -> usize {
        match self {
            Shape::Row(elements) => elements,
            Shape::Matrix { height, width } => height * width,
            Shape::Batch { matrices, height, width } => matrices * height * width,
        }
    }

    /// Returns a matrix of at most `elements` elements, and of most of them: wider than high, with
    /// both odd, so that neither is a multiple of a tile's.
    ///
    /// # Panics
    ///
    /// If `elements` is 0.
    pub fn matrix_of(elements: usize) -> Shape {
        let odd = |number: usize| if number.is_multiple_of(2) { number - 1 } else { number };
        let root = elements.isqrt();
        let width = odd((root + root / 3).max(1));
        Shape::Matrix { height: odd(elements / width), width }
    }

    /// Returns a batch of three matrices, or as many as there are elements if those are fewer, each
    /// as [`matrix_of`](Shape::matrix_of) has it.
    ///
    /// # Panics
    ///
    /// If `elements` is 0.
    pub fn batch_of(elements: usize) -> Shape {
        let matrices = elements.min(3);
        match Shape::matrix_of(elements / matrices) {
            Shape::Matrix { height, width } => Shape::Batch { matrices, height, width },
            other => other,
        }
    }
}

/// `1003`, `57 x 93` with the height first, or `3 x 57 x 93` with the number of matrices first.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Row(elements) => elements.fmt(f),
            Shape::Matrix { height, width } => write!(f, "{height} x {width}"),
            Shape::Batch { matrices, height, width } => write!(f, "{matrices} x {height} x {width}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_has_most_of_the_elements_and_is_neither_square_nor_a_multiple_of_a_tile() {
        assert_eq!(Shape::matrix_of(1), Shape::Matrix { height: 1, width: 1 });
        assert_eq!(Shape::matrix_of(2), Shape::Matrix { height: 1, width: 1 });
        for elements in (3..5000).chain([1 << 22, 1 << 26, 100_003]) {
            let shape = Shape::matrix_of(elements);
            let Shape::Matrix { height, width } = shape else { panic!("{shape}") };
            assert!(height % 2 == 1 && width % 2 == 1 && shape.elements() <= elements, "{elements}: {shape}");
            assert!(elements < 400 || (height < width && shape.elements() * 10 > elements * 8), "{elements}: {shape}");
        }
    }

    #[test]
    fn a_batch_has_most_of_the_elements_in_three_matrices_of_odd_sizes() {
        assert_eq!(Shape::batch_of(1), Shape::Batch { matrices: 1, height: 1, width: 1 });
        assert_eq!(Shape::batch_of(2), Shape::Batch { matrices: 2, height: 1, width: 1 });
        for elements in (3..5000).chain([1 << 22, 1 << 26, 100_003]) {
            let shape = Shape::batch_of(elements);
            let Shape::Batch { matrices: 3, height, width } = shape else { panic!("{shape}") };
            assert!(height % 2 == 1 && width % 2 == 1 && shape.elements() <= elements, "{elements}: {shape}");
            assert!(elements < 1200 || shape.elements() * 10 > elements * 8, "{elements}: {shape}");
        }
    }

    #[test]
    fn a_shape_has_as_many_dimensions_as_are_asked_for() {
        let shapes = [1, 2, 3].map(|dimensions| Shape::of(100, dimensions));
        assert_eq!(shapes.map(Shape::dimensions), [1, 2, 3]);
        assert_eq!(shapes.map(|shape| shape.to_string()), ["100", "7 x 13", "3 x 5 x 5"]);
    }
}
