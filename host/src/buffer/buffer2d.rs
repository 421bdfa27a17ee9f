//! Buffers of two dimensions, whose rows are padded for the widest copies.

use std::fmt;
use std::ops::RangeBounds;

use tilepipe::Element;

use super::rows::{Rectangle, Rows, RowsMut, check_width};
use super::{Buffer, zeroed_vec};
use crate::device::Device;
use crate::error::Error;

/// The widest unit of an asynchronous copy in bytes: every row starts at a multiple of it.
const ROW_ALIGNMENT: usize = 16;

/// `height` rows of `width` elements in the memory of a device, at least one of each.
///
/// Made by [`Device::upload_2d`], [`Device::zeroed_2d`] and [`Device::filled_with_byte_2d`]; passed
/// to a kernel for `Tiles2D` and `Halos2D` as `&buffer`, for `TilesMut2D` as `&mut buffer`, or in
/// part by [`slice`](Buffer2D::slice) and [`slice_mut`](Buffer2D::slice_mut). On the host its
/// elements are dense, row after row.
///
/// In memory successive rows start [`pitch`](Buffer2D::pitch) elements apart, like those of CUDA's
/// `cudaMallocPitch`. The pitch is the width, rounded up until every row starts at a multiple of 16
/// bytes: that is what the widest copies need, and nothing here needs more. `cudaMallocPitch`
/// rounds up to 512 bytes, for textures, and makes narrow rows many times as large. The elements
/// between the end of a row and the next one hold nothing: no view reaches them, and the copy
/// engine may write them.
///
/// Where there are such elements, reads and writes from the host go through one more copy on the
/// host. Launches that use the buffer keep its memory alive and are ordered as for [`Buffer`].
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input2D, TilesMut2D, kernel};
/// use tilepipe_host::{Device, Schedule};
///
/// #[kernel]
/// fn doubled(block: Block<64>, input: Input2D<u32>, mut out: TilesMut2D<u32, 8, 8>) {
///     let mut results = out.for_block(&block);
///     let places = results.places();
///     for i in 0..results.len() {
///         let (down, across) = places.get(i);
///         let result = results.get_mut(i);
///         block.threads(|t| {
///             let at = |row, column| input.at(8 * down + row, 8 * across + column);
///             result.set_each(&t, |row, column| 2 * at(row, column));
///         });
///     }
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Lazy);
///     let input = device.upload_2d(&[3; 150], 15)?; // 10 rows of 15 elements
///     let mut out = device.zeroed_2d(15, 12)?;
///     // The rows 1 to 10 of the output; its first and last row stay zero.
///     doubled::launch(&device.stream()?, 4, &input, out.slice_mut(1..11, ..)?)?;
///     assert_eq!(out.download()?, [[0; 15].as_slice(), &[6; 150], &[0; 15]].concat());
///     Ok(())
/// }
/// ```
pub struct Buffer2D<T> {
    pub(crate) buffer: Buffer<T>,
    width: usize,
    height: usize,
    pitch: usize,
}

impl Device {
    /// Makes a two-dimensional buffer that holds a copy of `data`: rows of `width` elements, one
    /// after the other.
    ///
    /// # Errors
    ///
    /// [`Error::RaggedRows`] if `width` is 0 or does not divide the number of elements,
    /// [`Error::EmptyRows`] if there is no element, [`Error::OutOfMemory`], [`Error::DeviceLost`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let image = device.upload_2d(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0], 3)?;
    /// assert_eq!((image.width(), image.height(), image.pitch()), (3, 2, 4));
    /// assert_eq!(image.download()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn upload_2d<T: Element>(&self, data: &[T], width: usize) -> Result<Buffer2D<T>, Error> {
        check_width(data.len(), width)?;
        let height = data.len() / width;
        let pitch = padded_pitch::<T>(width, height)?;
        let buffer = if pitch == width { self.upload(data)? } else { self.upload(&spread(data, width, pitch)?)? };
        Ok(Buffer2D { buffer, width, height, pitch })
    }

    /// Makes a two-dimensional buffer of `height` rows of `width` elements whose bytes are all
    /// zero.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyRows`], [`Error::RowsOverflow`], [`Error::OutOfMemory`],
    /// [`Error::DeviceLost`].
    pub fn zeroed_2d<T: Element>(&self, width: usize, height: usize) -> Result<Buffer2D<T>, Error> {
        let pitch = padded_pitch::<T>(width, height)?;
        let buffer = self.zeroed(pitch * height)?;
        Ok(Buffer2D { buffer, width, height, pitch })
    }

    /// Makes a two-dimensional buffer of `height` rows of `width` elements whose bytes are all
    /// `byte`: poison that shows what a kernel did not write. What pads the rows is zero all the
    /// same.
    ///
    /// # Errors
    ///
    /// As for [`Device::zeroed_2d`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let poisoned = device.filled_with_byte_2d::<u32>(1, 2, 0xA5)?;
    /// assert_eq!(poisoned.download()?, [0xA5A5_A5A5, 0xA5A5_A5A5]);
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn filled_with_byte_2d<T: Element>(&self, width: usize, height: usize, byte: u8) -> Result<Buffer2D<T>, Error> {
        let pitch = padded_pitch::<T>(width, height)?;
        let buffer = if pitch == width || byte == 0 {
            self.filled_with_byte(pitch * height, byte)?
        } else {
            let mut rows = zeroed_vec::<T>(pitch * height)?;
            for row in rows.chunks_exact_mut(pitch) {
                bytemuck::cast_slice_mut::<T, u8>(&mut row[..width]).fill(byte);
            }
            self.upload(&rows)?
        };
        Ok(Buffer2D { buffer, width, height, pitch })
    }
}

impl<T: Element> Buffer2D<T> {
    /// Returns the elements in a row, at least 1.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows, at least 1.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Returns the elements from one row's start to the next one's: the least number that is not
    /// below the width and makes a multiple of 16 bytes.
    pub fn pitch(&self) -> usize {
        self.pitch
    }

    /// Returns the number of elements, `width * height`, without what pads the rows.
    #[expect(clippy::len_without_is_empty, reason = "no buffer is empty")]
    pub fn len(&self) -> usize {
        // No overflow: not above `pitch * height`, which `padded_pitch` has checked.
        self.width * self.height
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &Device {
        self.buffer.device()
    }

    /// Waits for the launches that write the buffer, and returns a copy of its elements, row after
    /// row.
    ///
    /// # Errors
    ///
    /// As for [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        let mut data = self.buffer.download()?;
        if self.pitch != self.width {
            for row in 1..self.height {
                let start = row * self.pitch;
                data.copy_within(start..start + self.width, row * self.width);
            }
            data.truncate(self.len());
        }
        Ok(data)
    }

    /// Waits for the launches that write the buffer, and copies its elements, row after row, to
    /// `data`, which must have [`len`](Buffer2D::len) elements.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`]; else as for [`Buffer::download`].
    pub fn read(&self, data: &mut [T]) -> Result<(), Error> {
        self.expect_length(data.len())?;
        if self.pitch == self.width {
            return self.buffer.read(data);
        }
        let rows = self.buffer.download()?;
        for (to, from) in data.chunks_exact_mut(self.width).zip(rows.chunks_exact(self.pitch)) {
            to.copy_from_slice(&from[..self.width]);
        }
        Ok(())
    }

    /// Waits for the launches that use the buffer, and replaces its elements, row after row, by
    /// `data`, which must have [`len`](Buffer2D::len) elements.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] of the host; else as for [`Buffer::write`].
    pub fn write(&mut self, data: &[T]) -> Result<(), Error> {
        self.expect_length(data.len())?;
        if self.pitch == self.width {
            return self.buffer.write(data);
        }
        self.buffer.write(&spread(data, self.width, self.pitch)?)
    }

    /// Returns the elements of the given rows and columns, for a kernel to read.
    ///
    /// A kernel that copies asynchronously wants the first column to be a multiple of 16 bytes:
    /// every 4th element of 4 bytes. An output whose elements are `Striped` starts anywhere. The
    /// launch checks it.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice2D`] if a range is empty or does not lie in the buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe::{Block, Shared, Stages, Tile2D, Tiles2D, TilesMut2D, kernel};
    /// use tilepipe_host::{Device, Schedule};
    ///
    /// #[kernel]
    /// pub fn negate(
    ///     block: Block<128>,
    ///     input: Tiles2D<i32, 4, 32>,
    ///     mut out: TilesMut2D<i32, 4, 32>,
    ///     shared: Shared<Stages<Tile2D<i32, 4, 32>, 1>>,
    /// ) {
    ///     let tiles = input.for_block(&block);
    ///     let mut results = out.for_block(&block);
    ///     let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, out| {
    ///         block.threads(|t| out.set_each(&t, |row, column| -tile[(row, column)]));
    ///     });
    /// }
    ///
    /// fn main() -> Result<(), tilepipe_host::Error> {
    ///     let device = Device::cpu(Schedule::Lazy);
    ///     let (width, height) = (6, 3);
    ///     let input = device.upload_2d(&(0..18).collect::<Vec<i32>>(), width)?;
    ///     let mut out = device.zeroed_2d(width, height)?;
    ///     // Two elements of the rows 0 and 1, to the last two rows of the output.
    ///     let (from, to) = (input.slice(..2, 4..)?, out.slice_mut(1.., 1..3)?);
    ///     negate::launch(&device.stream()?, 1, from, to)?;
    ///     #[rustfmt::skip]
    ///     assert_eq!(out.download()?, [
    ///         0,   0,   0, 0, 0, 0,
    ///         0,  -4,  -5, 0, 0, 0,
    ///         0, -10, -11, 0, 0, 0,
    ///     ]);
    ///     assert!(input.slice(.., 4..7).is_err());
    ///     Ok(())
    /// }
    /// ```
    pub fn slice(&self, rows: impl RangeBounds<usize>, columns: impl RangeBounds<usize>) -> Result<Rows<'_, T>, Error> {
        self.as_rows().slice(rows, columns)
    }

    /// Returns the elements of the given rows and columns, for a kernel to write; they start where
    /// [`Buffer2D::slice`] says. What the copy engine writes (`TensorMut`, `TileReduction`) also
    /// ends at a multiple of 16 bytes, or at the last column.
    ///
    /// # Errors
    ///
    /// [`Error::BadSlice2D`] if a range is empty or does not lie in the buffer.
    pub fn slice_mut(
        &mut self,
        rows: impl RangeBounds<usize>,
        columns: impl RangeBounds<usize>,
    ) -> Result<RowsMut<'_, T>, Error> {
        self.as_rows_mut().slice_mut(rows, columns)
    }

    /// All of the rows.
    pub(crate) fn as_rows(&self) -> Rows<'_, T> {
        Rows::new(&self.buffer, self.rectangle())
    }

    /// All of the rows.
    pub(crate) fn as_rows_mut(&mut self) -> RowsMut<'_, T> {
        let rectangle = self.rectangle();
        RowsMut::new(&mut self.buffer, rectangle)
    }

    /// Where the rows lie in the padded buffer.
    fn rectangle(&self) -> Rectangle {
        Rectangle {
            start: 0,
            width: self.width,
            height: self.height,
            pitch: self.pitch,
            padding: self.pitch - self.width,
        }
    }

    fn expect_length(&self, given: usize) -> Result<(), Error> {
        if given == self.len() {
            return Ok(());
        }
        Err(Error::LengthMismatch { given, len: self.len() })
    }
}

impl<T> fmt::Debug for Buffer2D<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("Buffer2D");
        text.field("element", &std::any::type_name::<T>()).field("width", &self.width).field("height", &self.height);
        text.field("pitch", &self.pitch).finish_non_exhaustive()
    }
}

/// Returns a number of elements of `element` bytes that makes a multiple of `alignment` bytes; the
/// least one, where `alignment` is a power of two.
pub(crate) fn elements_aligned_to(alignment: usize, element: usize) -> usize {
    alignment >> alignment.trailing_zeros().min(element.trailing_zeros())
}

/// Returns the pitch in elements of `height` rows of `width` elements, whose product was checked.
fn padded_pitch<T: Element>(width: usize, height: usize) -> Result<usize, Error> {
    let element = std::any::type_name::<T>();
    if width == 0 || height == 0 {
        return Err(Error::EmptyRows { width, height, element });
    }
    let unit = elements_aligned_to(ROW_ALIGNMENT, size_of::<T>());
    let limit = isize::MAX as usize;
    width
        .checked_next_multiple_of(unit)
        .filter(|pitch| {
            let bytes = pitch.checked_mul(height).and_then(|elements| elements.checked_mul(size_of::<T>()));
            bytes.is_some_and(|bytes| bytes <= limit)
        })
        .ok_or(Error::RowsOverflow { width, height, element, limit })
}

/// Returns dense rows with zeros after each of them, up to `pitch` elements.
fn spread<T: Element>(data: &[T], width: usize, pitch: usize) -> Result<Vec<T>, Error> {
    // No overflow: the callers have checked `pitch * height` with `padded_pitch`.
    let mut rows = zeroed_vec(data.len() / width * pitch)?;
    for (to, from) in rows.chunks_exact_mut(pitch).zip(data.chunks_exact(width)) {
        to[..width].copy_from_slice(from);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use tilepipe::F32x4;
    use tilepipe::cpu::Schedule;

    use super::*;

    #[test]
    fn the_pitch_is_the_least_that_keeps_every_row_at_a_multiple_of_16_bytes() {
        fn check<T: Element>() {
            for width in 1..40 {
                let pitch = padded_pitch::<T>(width, 3).unwrap();
                let least = (width..).find(|pitch| (pitch * size_of::<T>()).is_multiple_of(16));
                assert_eq!(Some(pitch), least, "{width} of {}", std::any::type_name::<T>());
            }
        }
        check::<u32>();
        check::<f64>();
        check::<F32x4>();
        assert_eq!([1, 2, 4, 8, 12, 16].map(|element| elements_aligned_to(16, element)), [16, 8, 4, 2, 4, 1]);
        assert_eq!([1, 4, 6].map(|element| elements_aligned_to(8, element)), [8, 2, 4]);
    }

    #[test]
    fn what_pads_the_rows_is_zero_and_stays_so() {
        let device = Device::cpu(Schedule::Lazy);
        let padding = |image: &Buffer2D<u32>| {
            let rows = image.buffer.download().unwrap();
            rows.chunks(image.pitch).flat_map(|row| row[image.width..].to_vec()).collect::<Vec<_>>()
        };
        let mut image = device.upload_2d(&[7_u32; 15], 5).unwrap();
        assert_eq!(padding(&image), [0; 9]);
        image.write(&[8; 15]).unwrap();
        assert_eq!(padding(&image), [0; 9]);
        assert_eq!(padding(&device.zeroed_2d(5, 3).unwrap()), [0; 9]);
        assert_eq!(padding(&device.filled_with_byte_2d(5, 3, 0xA5).unwrap()), [0; 9]);
    }
}
