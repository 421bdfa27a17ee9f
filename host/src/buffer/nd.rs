//! Buffers of one to five dimensions, and parts of them.

use std::fmt;
use std::ops::Range;

use tilepipe::Element;

use super::slice::Part;
use super::{Buffer, Buffer2D};
use crate::device::Device;
use crate::error::Error;

/// The most dimensions of a buffer, which are those of a tensor.
pub(crate) const DIMENSIONS: usize = 5;

/// An array of `N` dimensions in the memory of a device, 1 to 5, of which none is empty.
///
/// Made by [`Device::upload_nd`], [`Device::zeroed_nd`] and [`Device::filled_with_byte_nd`]; passed
/// to a kernel for a `Tensor` as `&buffer`, for a `TensorMut` or a `TileReduction` as `&mut
/// buffer`, or in part by [`slice`](BufferNd::slice) and [`slice_mut`](BufferNd::slice_mut).
/// Extents and ranges are in the order of NumPy: the last dimension is that of the elements of a
/// row, the one before it that of the rows of a plane. On the host elements are dense, in this
/// order.
///
/// In memory rows are padded as those of a [`Buffer2D`].
pub struct BufferNd<T, const N: usize> {
    rows: Buffer2D<T>,
    extents: [usize; N],
}

/// Part of a [`BufferNd`], to be read by a kernel: what is passed for a `Tensor` in place of the
/// whole buffer. Made by [`BufferNd::slice`]; what lies beyond it reads as zero.
#[derive(Clone, Copy)]
pub struct SliceNd<'a, T, const N: usize> {
    buffer: &'a Buffer<T>,
    layout: Layout<N>,
}

/// Part of a [`BufferNd`], to be written by a kernel: what is passed for a `TensorMut` or a
/// `TileReduction` in place of the whole buffer. Made by [`BufferNd::slice_mut`]. The launch writes
/// nothing outside of it, and still counts as a use of the whole buffer.
pub struct SliceNdMut<'a, T, const N: usize> {
    buffer: &'a mut Buffer<T>,
    layout: Layout<N>,
}

/// Elements of a buffer: the first one is `start`, and the next one in a dimension is as many
/// elements further as `pitches` says, 1 in the last dimension.
///
/// # Invariants
///
/// 0. No extent is 0, and all elements lie in the buffer, no two at one place.
/// 1. The `padding` elements behind each row are part of the buffer's memory and hold nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout<const N: usize> {
    pub(crate) start: usize,
    pub(crate) extents: [usize; N],
    pub(crate) pitches: [usize; N],
    pub(crate) padding: usize,
}

impl<const N: usize> Layout<N> {
    /// The part of it in the given ranges.
    fn slice(self, ranges: [Range<usize>; N]) -> Result<Self, Error> {
        let mut part = self;
        for (dimension, range) in ranges.iter().enumerate() {
            let Some(Part { start, len }) = Part::of(range, self.extents[dimension]) else {
                return Err(Error::BadSliceNd { ranges: ranges.to_vec(), extents: self.extents.to_vec() });
            };
            // No overflow: it is one of these elements.
            part.start += start * self.pitches[dimension];
            part.extents[dimension] = len;
            // Behind any other element of a row lies the next one.
            if dimension == N - 1 && start + len < self.extents[dimension] {
                part.padding = 0;
            }
        }
        Ok(part)
    }
}

impl Device {
    /// Makes a buffer of these extents that holds a copy of `data`, the last dimension's elements
    /// one after the other.
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `data` has another number of elements; else as for
    /// [`Device::zeroed_nd`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// // Two matrices of three rows of five numbers.
    /// let numbers: Vec<i32> = (0..30).collect();
    /// let batch = device.upload_nd(&numbers, [2, 3, 5])?;
    /// assert_eq!((batch.extents(), batch.len()), ([2, 3, 5], 30));
    /// assert_eq!(batch.download()?, numbers);
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn upload_nd<T: Element, const N: usize>(
        &self,
        data: &[T],
        extents: [usize; N],
    ) -> Result<BufferNd<T, N>, Error> {
        let [width, height] = flattened(extents);
        let len = width.saturating_mul(height);
        if len != data.len() {
            return Err(Error::LengthMismatch { given: data.len(), len });
        }
        if len == 0 {
            return self.zeroed_nd(extents);
        }
        Ok(BufferNd { rows: self.upload_2d(data, width)?, extents })
    }

    /// Makes a buffer of these extents whose bytes are all zero.
    ///
    /// # Errors
    ///
    /// As for [`Device::zeroed_2d`], of the product of all extents but the last as the number of
    /// rows.
    pub fn zeroed_nd<T: Element, const N: usize>(&self, extents: [usize; N]) -> Result<BufferNd<T, N>, Error> {
        let [width, height] = flattened(extents);
        Ok(BufferNd { rows: self.zeroed_2d(width, height)?, extents })
    }

    /// Makes a buffer of these extents whose bytes are all `byte`.
    ///
    /// # Errors
    ///
    /// As for [`Device::zeroed_nd`].
    pub fn filled_with_byte_nd<T: Element, const N: usize>(
        &self,
        extents: [usize; N],
        byte: u8,
    ) -> Result<BufferNd<T, N>, Error> {
        let [width, height] = flattened(extents);
        Ok(BufferNd { rows: self.filled_with_byte_2d(width, height, byte)?, extents })
    }
}

/// The elements of a row, and the rows of all planes; as many as there can be if there are more.
fn flattened<const N: usize>(extents: [usize; N]) -> [usize; 2] {
    const { assert!(N >= 1 && N <= DIMENSIONS, "a buffer has 1 to 5 dimensions") };
    let rows = extents[..N - 1].iter().fold(1_usize, |all, extent| all.saturating_mul(*extent));
    [extents[N - 1], rows]
}

impl<T: Element, const N: usize> BufferNd<T, N> {
    /// Returns the extents, each at least 1.
    pub fn extents(&self) -> [usize; N] {
        self.extents
    }

    /// Returns the number of elements, the product of the extents.
    #[expect(clippy::len_without_is_empty, reason = "no buffer is empty")]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the device whose memory this is.
    pub fn device(&self) -> &Device {
        self.rows.device()
    }

    /// Waits for the launches that write the buffer, and returns a copy of its elements.
    ///
    /// # Errors
    ///
    /// As for [`Buffer::download`].
    pub fn download(&self) -> Result<Vec<T>, Error> {
        self.rows.download()
    }

    /// Waits for the launches that write the buffer, and copies its elements to `data`.
    ///
    /// # Errors
    ///
    /// As for [`Buffer2D::read`].
    pub fn read(&self, data: &mut [T]) -> Result<(), Error> {
        self.rows.read(data)
    }

    /// Waits for the launches that use the buffer, and replaces its elements by `data`.
    ///
    /// # Errors
    ///
    /// As for [`Buffer2D::write`].
    pub fn write(&mut self, data: &[T]) -> Result<(), Error> {
        self.rows.write(data)
    }

    /// Returns the elements in the given ranges, for a kernel to read. In a row they start at a
    /// multiple of 16 bytes, which the launch checks.
    ///
    /// # Errors
    ///
    /// [`Error::BadSliceNd`] if a range is empty or does not lie in the buffer.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let batch = device.zeroed_nd::<f32, 3>([8, 64, 64])?;
    /// // The second matrix, without its first row.
    /// assert_eq!(batch.slice([1..2, 1..64, 0..64])?.extents(), [1, 63, 64]);
    /// assert!(batch.slice([8..9, 0..64, 0..64]).is_err());
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn slice(&self, ranges: [Range<usize>; N]) -> Result<SliceNd<'_, T, N>, Error> {
        self.as_slice().slice(ranges)
    }

    /// Returns the elements in the given ranges, for a kernel to write; they start as
    /// [`slice`](Self::slice) says, and end in a row at a multiple of 16 bytes, or at its end.
    ///
    /// # Errors
    ///
    /// [`Error::BadSliceNd`] if a range is empty or does not lie in the buffer.
    pub fn slice_mut(&mut self, ranges: [Range<usize>; N]) -> Result<SliceNdMut<'_, T, N>, Error> {
        let layout = self.layout().slice(ranges)?;
        Ok(SliceNdMut { buffer: &mut self.rows.buffer, layout })
    }

    /// All of it.
    pub(crate) fn as_slice(&self) -> SliceNd<'_, T, N> {
        SliceNd { buffer: &self.rows.buffer, layout: self.layout() }
    }

    /// All of it.
    pub(crate) fn as_slice_mut(&mut self) -> SliceNdMut<'_, T, N> {
        let layout = self.layout();
        SliceNdMut { buffer: &mut self.rows.buffer, layout }
    }

    /// Where the elements lie in the padded buffer.
    fn layout(&self) -> Layout<N> {
        let mut pitches = [1; N];
        let mut pitch = self.rows.pitch();
        for dimension in (0..N - 1).rev() {
            pitches[dimension] = pitch;
            // No overflow: elements of the buffer.
            pitch *= self.extents[dimension];
        }
        let padding = self.rows.pitch() - self.rows.width();
        Layout { start: 0, extents: self.extents, pitches, padding }
    }
}

impl<'a, T: Element, const N: usize> SliceNd<'a, T, N> {
    /// Returns the extents, each at least 1.
    pub fn extents(&self) -> [usize; N] {
        self.layout.extents
    }

    /// Returns the elements in the given ranges, counted from the first of these; see
    /// [`BufferNd::slice`].
    ///
    /// # Errors
    ///
    /// [`Error::BadSliceNd`] if a range is empty or does not lie in these elements.
    pub fn slice(self, ranges: [Range<usize>; N]) -> Result<SliceNd<'a, T, N>, Error> {
        Ok(SliceNd { layout: self.layout.slice(ranges)?, ..self })
    }

    /// Returns the buffer, and where in it the elements lie.
    pub(crate) fn parts(self) -> (&'a Buffer<T>, Layout<N>) {
        (self.buffer, self.layout)
    }
}

impl<'a, T: Element, const N: usize> SliceNdMut<'a, T, N> {
    /// Returns the extents, each at least 1.
    pub fn extents(&self) -> [usize; N] {
        self.layout.extents
    }

    /// Returns the elements in the given ranges, counted from the first of these; see
    /// [`BufferNd::slice_mut`].
    ///
    /// # Errors
    ///
    /// [`Error::BadSliceNd`] if a range is empty or does not lie in these elements.
    pub fn slice_mut(self, ranges: [Range<usize>; N]) -> Result<SliceNdMut<'a, T, N>, Error> {
        Ok(SliceNdMut { layout: self.layout.slice(ranges)?, ..self })
    }

    /// Returns the buffer, and where in it the elements lie.
    pub(crate) fn parts(self) -> (&'a Buffer<T>, Layout<N>) {
        (self.buffer, self.layout)
    }
}

impl<T, const N: usize> fmt::Debug for BufferNd<T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("BufferNd");
        text.field("element", &std::any::type_name::<T>()).field("extents", &self.extents).finish_non_exhaustive()
    }
}

impl<T, const N: usize> fmt::Debug for SliceNd<'_, T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SliceNd").field("buffer", self.buffer).field("layout", &self.layout).finish()
    }
}

impl<T, const N: usize> fmt::Debug for SliceNdMut<'_, T, N> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SliceNdMut").field("buffer", self.buffer).field("layout", &self.layout).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tilepipe::cpu::Schedule;

    use super::*;

    /// The indices of all elements of a layout of three dimensions, plane by plane and row by row.
    fn indices(layout: Layout<3>) -> Vec<usize> {
        let [planes, rows, columns] = layout.extents;
        let at = |plane: usize, row: usize, column: usize| {
            layout.start + [plane, row, column].iter().zip(layout.pitches).map(|(at, pitch)| at * pitch).sum::<usize>()
        };
        let rows = (0..planes).flat_map(|plane| (0..rows).map(move |row| (plane, row)));
        rows.flat_map(|(plane, row)| (0..columns).map(move |column| at(plane, row, column))).collect()
    }

    proptest! {
        #[test]
        fn a_slice_of_a_slice_names_the_elements_that_loops_name(
            extents in [1_usize..6, 1_usize..6, 1_usize..9],
            cuts in proptest::collection::vec([0_usize..7, 0_usize..7, 0_usize..7, 0_usize..7, 0_usize..10, 0_usize..10], 1..4),
        ) {
            let device = Device::cpu(Schedule::Lazy);
            let buffer = device.zeroed_nd::<u32, 3>(extents).unwrap();
            let (mut layout, mut padded) = (buffer.layout(), true);
            // Where each element lies, by its place.
            let pitch = extents[2].next_multiple_of(4);
            let mut places = [0..extents[0], 0..extents[1], 0..extents[2]];
            for [a, b, c, d, e, f] in cuts {
                let ranges = [a..b, c..d, e..f];
                let fits = ranges.iter().zip(layout.extents).all(|(range, extent)| range.start < range.end && range.end <= extent);
                match layout.slice(ranges.clone()) {
                    Ok(part) => {
                        prop_assert!(fits);
                        padded &= f == layout.extents[2];
                        layout = part;
                        for (place, range) in places.iter_mut().zip(ranges) {
                            *place = place.start + range.start..place.start + range.end;
                        }
                    }
                    Err(Error::BadSliceNd { .. }) => prop_assert!(!fits),
                    Err(error) => prop_assert!(false, "{}", error),
                }
            }
            let [planes, rows, columns] = places;
            let named = planes.flat_map(|plane| rows.clone().map(move |row| plane * extents[1] + row));
            let named: Vec<usize> =
                named.flat_map(|line| columns.clone().map(move |column| line * pitch + column)).collect();
            prop_assert_eq!(indices(layout), named);
            prop_assert_eq!(layout.padding, if padded { pitch - extents[2] } else { 0 });
        }
    }

    #[test]
    fn extents_that_are_no_buffer_are_errors_and_others_keep_their_elements() {
        let device = Device::cpu(Schedule::Lazy);
        assert!(matches!(device.zeroed_nd::<u8, 3>([2, 0, 3]), Err(Error::EmptyRows { width: 3, height: 0, .. })));
        assert!(matches!(device.upload_nd::<u8, 2>(&[], [0, 7]), Err(Error::EmptyRows { .. })));
        assert!(matches!(device.zeroed_nd::<u8, 3>([usize::MAX, 2, 3]), Err(Error::RowsOverflow { .. })));
        assert!(matches!(device.upload_nd(&[1_u8; 5], [2, 3]), Err(Error::LengthMismatch { given: 5, len: 6 })));
        let numbers: Vec<u16> = (0..2 * 3 * 4 * 5 * 7).collect();
        let mut buffer = device.upload_nd(&numbers, [2, 3, 4, 5, 7]).unwrap();
        assert_eq!((buffer.download().unwrap(), buffer.len()), (numbers.clone(), numbers.len()));
        buffer.write(&vec![9; numbers.len()]).unwrap();
        let mut read = vec![0; numbers.len()];
        buffer.read(&mut read).unwrap();
        assert_eq!(read, vec![9; numbers.len()]);
        let line = device.filled_with_byte_nd::<u8, 1>([33], 7).unwrap();
        assert_eq!((line.download().unwrap(), line.layout().padding), (vec![7; 33], 15));
    }
}
