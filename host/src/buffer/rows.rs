//! Rows of a buffer, as arguments of a launch.

use std::fmt;
use std::ops::RangeBounds;

use tilepipe::Element;

use super::Buffer;
use super::slice::{Part, bounds};
use crate::error::Error;

/// Rows of elements in a buffer, to be read by a kernel: what is passed for `Tiles2D` and `Halos2D`
/// in place of a whole [`Buffer2D`](crate::Buffer2D).
///
/// Made by [`Buffer::rows`], [`Buffer2D::slice`](crate::Buffer2D::slice) and [`Rows::slice`]: a
/// dense buffer seen as rows, or a rectangle of either. The kernel's view ends where the rectangle
/// ends: what lies past it reads as zero, as past the end of a buffer.
///
/// # Invariants
///
/// 0. `rectangle` lies within `buffer`.
#[derive(Clone, Copy)]
pub struct Rows<'a, T> {
    buffer: &'a Buffer<T>,
    rectangle: Rectangle,
}

/// Rows of elements in a buffer, to be written by a kernel: what is passed for `TilesMut2D` in
/// place of a whole [`Buffer2D`](crate::Buffer2D).
///
/// Made by [`Buffer::rows_mut`], [`Buffer2D::slice_mut`](crate::Buffer2D::slice_mut) and
/// [`RowsMut::slice_mut`]. The launch writes nothing outside of the rectangle, and still counts as
/// a use of the whole buffer, as for [`SliceMut`](crate::SliceMut).
///
/// # Invariants
///
/// 0. `rectangle` lies within `buffer`.
pub struct RowsMut<'a, T> {
    buffer: &'a mut Buffer<T>,
    rectangle: Rectangle,
}

/// Elements of a buffer: `height` rows of `width` elements, the first one from `start` on and each
/// other one `pitch` elements after the one before it.
///
/// # Invariants
///
/// 0. Neither `width` nor `height` is 0, and `width + padding <= pitch`: no two rows overlap.
/// 1. The `padding` elements behind each row are part of the buffer's memory and hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) start: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pitch: usize,
    pub(crate) padding: usize,
}

impl Rectangle {
    /// The part of it in the given rows and columns.
    pub(crate) fn slice(
        self,
        rows: &impl RangeBounds<usize>,
        columns: &impl RangeBounds<usize>,
    ) -> Result<Rectangle, Error> {
        let (rows, columns) = (bounds(rows, self.height), bounds(columns, self.width));
        match (Part::of(&rows, self.height), Part::of(&columns, self.width)) {
            // No overflow: its first element is one of these.
            (Some(rows), Some(columns)) => Ok(Rectangle {
                start: self.start + rows.start * self.pitch + columns.start,
                width: columns.len,
                height: rows.len,
                // Behind any other column lies the next one.
                padding: if columns.start + columns.len == self.width { self.padding } else { 0 },
                ..self
            }),
            _ => Err(Error::BadSlice2D { rows, columns, width: self.width, height: self.height }),
        }
    }
}

impl<T: Element> Buffer<T> {
    /// Returns the buffer as rows of `width` elements, one after the other, for a kernel to read.
    ///
    /// A kernel that copies asynchronously wants every row to start at a multiple of up to 16
    /// bytes, which rows of, for example, 33 `f32` do not. The launch refuses those; a
    /// [`Buffer2D`](crate::Buffer2D) pads its rows and has any width.
    ///
    /// # Errors
    ///
    /// [`Error::RaggedRows`] if `width` is 0 or does not divide the buffer's length.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let buffer = device.upload(&[1, 2, 3, 4, 5, 6, 7, 8])?;
    /// let rows = buffer.rows(4)?;
    /// assert_eq!((rows.width(), rows.height()), (4, 2));
    /// let argument = Bound::input_rows(rows);
    /// # let _ = argument;
    /// let error = buffer.rows(3).unwrap_err().to_string();
    /// assert!(error.starts_with("8 elements are no whole rows of 3"), "{error}");
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn rows(&self, width: usize) -> Result<Rows<'_, T>, Error> {
        let rectangle = dense(self.len(), width)?;
        Ok(Rows { buffer: self, rectangle })
    }

    /// Returns the buffer as rows of `width` elements, one after the other, for a kernel to write.
    ///
    /// # Errors
    ///
    /// [`Error::RaggedRows`] if `width` is 0 or does not divide the buffer's length.
    pub fn rows_mut(&mut self, width: usize) -> Result<RowsMut<'_, T>, Error> {
        let rectangle = dense(self.len(), width)?;
        Ok(RowsMut { buffer: self, rectangle })
    }
}

impl<'a, T: Element> Rows<'a, T> {
    /// Makes rows of a rectangle that lies within the buffer.
    pub(super) fn new(buffer: &'a Buffer<T>, rectangle: Rectangle) -> Self {
        Rows { buffer, rectangle }
    }

    /// Returns the elements in a row, at least 1.
    pub fn width(&self) -> usize {
        self.rectangle.width
    }

    /// Returns the number of rows, at least 1.
    pub fn height(&self) -> usize {
        self.rectangle.height
    }

    /// Returns the elements of the given rows and columns, counted from the first of these; see
    /// [`Buffer2D::slice`](crate::Buffer2D::slice).
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice2D`] if a range is empty or does not lie in these rows.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let buffer = device.zeroed::<f32>(8 * 16)?;
    /// let part = buffer.rows(16)?.slice(2.., 4..12)?;
    /// assert_eq!((part.width(), part.height()), (8, 6));
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn slice(self, rows: impl RangeBounds<usize>, columns: impl RangeBounds<usize>) -> Result<Rows<'a, T>, Error> {
        Ok(Rows { rectangle: self.rectangle.slice(&rows, &columns)?, ..self })
    }

    /// Returns the buffer, and where in it the rows lie.
    pub(crate) fn parts(self) -> (&'a Buffer<T>, Rectangle) {
        (self.buffer, self.rectangle)
    }
}

impl<'a, T: Element> RowsMut<'a, T> {
    /// Makes rows of a rectangle that lies within the buffer.
    pub(super) fn new(buffer: &'a mut Buffer<T>, rectangle: Rectangle) -> Self {
        RowsMut { buffer, rectangle }
    }

    /// Returns the elements in a row, at least 1.
    pub fn width(&self) -> usize {
        self.rectangle.width
    }

    /// Returns the number of rows, at least 1.
    pub fn height(&self) -> usize {
        self.rectangle.height
    }

    /// Returns the elements of the given rows and columns, counted from the first of these; see
    /// [`Buffer2D::slice`](crate::Buffer2D::slice).
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice2D`] if a range is empty or does not lie in these rows.
    pub fn slice_mut(
        self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<RowsMut<'a, T>, Error> {
        Ok(RowsMut { rectangle: self.rectangle.slice(&rows, &columns)?, ..self })
    }

    /// Returns the buffer, and where in it the rows lie.
    pub(crate) fn parts(self) -> (&'a Buffer<T>, Rectangle) {
        (self.buffer, self.rectangle)
    }
}

/// The rows of `width`, at least 1, of which `elements` elements consist as a whole.
pub(crate) fn dense(elements: usize, width: usize) -> Result<Rectangle, Error> {
    check_width(elements, width)?;
    Ok(Rectangle { start: 0, width, height: elements / width, pitch: width, padding: 0 })
}

/// Fails unless `elements` elements are whole rows of `width`, which is at least 1.
pub(super) fn check_width(elements: usize, width: usize) -> Result<(), Error> {
    // No number but 0 is a multiple of 0.
    if width == 0 || !elements.is_multiple_of(width) {
        return Err(Error::RaggedRows { elements, width });
    }
    Ok(())
}

impl<T> fmt::Debug for Rows<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rows").field("buffer", self.buffer).field("rectangle", &self.rectangle).finish()
    }
}

impl<T> fmt::Debug for RowsMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RowsMut").field("buffer", self.buffer).field("rectangle", &self.rectangle).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The indices of a rectangle's elements, row by row.
    fn indices(rectangle: Rectangle) -> Vec<Vec<usize>> {
        let row = |row| {
            let start = rectangle.start + row * rectangle.pitch;
            (start..start + rectangle.width).collect()
        };
        (0..rectangle.height).map(row).collect()
    }

    proptest! {
        #[test]
        fn a_slice_of_a_slice_names_the_elements_that_slices_of_vectors_name(
            (width, height, padding) in (1_usize..9, 1_usize..9, 0_usize..3),
            cuts in proptest::collection::vec((0_usize..10, 0_usize..10, 0_usize..10, 0_usize..10), 1..4),
        ) {
            let mut rectangle = Rectangle { start: 0, width, height, pitch: width + padding, padding };
            for (top, bottom, left, right) in cuts {
                let rows = indices(rectangle);
                let named = rows.get(top..bottom).filter(|rows| !rows.is_empty()).and_then(|rows| {
                    rows.iter().map(|row| row.get(left..right).filter(|row| !row.is_empty())).collect::<Option<Vec<_>>>()
                });
                match (rectangle.slice(&(top..bottom), &(left..right)), named) {
                    (Ok(part), Some(named)) => {
                        prop_assert_eq!(indices(part), named);
                        let last = indices(part)[0].last().map(|last| last % (width + padding));
                        prop_assert_eq!(part.padding, if last == Some(width - 1) { padding } else { 0 });
                        rectangle = part;
                    }
                    (Err(Error::BadSlice2D { rows, columns, width, height }), None) => {
                        prop_assert_eq!((rows, columns), (top..bottom, left..right));
                        prop_assert_eq!((width, height), (rectangle.width, rectangle.height));
                    }
                    (got, wanted) => prop_assert!(false, "{got:?} for {wanted:?}"),
                }
            }
        }
    }
}
