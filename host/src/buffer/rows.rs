//! A dense buffer seen as rows, as an argument of a launch.

use std::fmt;

use tilepipe::Element;

use super::Buffer;
use crate::error::Error;

/// A dense [`Buffer`] seen as rows, to be read by a kernel: what is passed for `Tiles2D` and
/// `Halos2D`.
///
/// Made by [`Buffer::rows`]. One row starts where the one before it ends, so the pitch is the
/// width.
///
/// # Invariants
///
/// 0. `width >= 1`, and the length of `buffer` is a multiple of it.
#[derive(Clone, Copy)]
pub struct Rows<'a, T> {
    buffer: &'a Buffer<T>,
    width: usize,
}

/// A dense [`Buffer`] seen as rows, to be written by a kernel: what is passed for `TilesMut2D`.
///
/// Made by [`Buffer::rows_mut`].
///
/// # Invariants
///
/// 0. `width >= 1`, and the length of `buffer` is a multiple of it.
pub struct RowsMut<'a, T> {
    buffer: &'a mut Buffer<T>,
    width: usize,
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
        check_width(self.len(), width)?;
        Ok(Rows { buffer: self, width })
    }

    /// Returns the buffer as rows of `width` elements, one after the other, for a kernel to write.
    ///
    /// # Errors
    ///
    /// [`Error::RaggedRows`] if `width` is 0 or does not divide the buffer's length.
    pub fn rows_mut(&mut self, width: usize) -> Result<RowsMut<'_, T>, Error> {
        check_width(self.len(), width)?;
        Ok(RowsMut { buffer: self, width })
    }
}

impl<T: Element> Rows<'_, T> {
    /// Returns the elements in a row, at least 1.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows, at least 1.
    pub fn height(&self) -> usize {
        self.buffer.len() / self.width
    }

    /// Returns the buffer.
    pub(crate) fn buffer(&self) -> &Buffer<T> {
        self.buffer
    }
}

impl<T: Element> RowsMut<'_, T> {
    /// Returns the elements in a row, at least 1.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows, at least 1.
    pub fn height(&self) -> usize {
        self.buffer.len() / self.width
    }

    /// Returns the buffer.
    pub(crate) fn buffer(&self) -> &Buffer<T> {
        self.buffer
    }
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
        formatter.debug_struct("Rows").field("buffer", self.buffer).field("width", &self.width).finish()
    }
}

impl<T> fmt::Debug for RowsMut<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RowsMut").field("buffer", self.buffer).field("width", &self.width).finish()
    }
}
