//! Arguments of a launch: what may be passed for which parameter of a kernel.

mod rows;
pub(crate) mod tensor;

use std::any::{TypeId, type_name};
use std::ffi::c_void;
use std::ptr;

use tilepipe::launch::{ParameterKind, RawElements, RawParameter, RawRows};
use tilepipe::{BulkTilesMut, Element, Halos, Tiles, TilesMut};

use crate::access::Access;
use crate::buffer::{
    Buffer, Buffer2D, BufferNd, DIMENSIONS, Layout, Memory, Rectangle, Rows, RowsMut, Slice, SliceMut, SliceNd,
    SliceNdMut,
};

/// What may be passed for a kernel's parameter of type `P`; the `launch` functions that `#[kernel]`
/// makes ask for it.
///
/// - `&Buffer<T>` or a [`Slice`] for the input views [`Tiles`] and [`Halos`];
/// - `&mut Buffer<T>` or a [`SliceMut`] for the output views [`TilesMut`] and [`BulkTilesMut`];
/// - `&Buffer2D<T>` or [`Rows`] for the two-dimensional input views `Tiles2D` and `Halos2D`;
/// - `&mut Buffer2D<T>` or [`RowsMut`] for the two-dimensional output view `TilesMut2D`;
/// - one of these for a `Tensor`, a `TensorMut` or a `TileReduction` of boxes of a matrix, and a
///   [`BufferNd`] or a [`SliceNd`] for one of as many dimensions;
/// - a scalar for itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel's parameter `{P}`",
    label = "wrong argument",
    note = "pass `&buffer` for an input view (`Tiles`, `Halos`), `&mut buffer` for an output view (`TilesMut`, `BulkTilesMut`), and a \
            scalar of exactly the parameter's type",
    note = "a view of two dimensions (`Tiles2D`, `Halos2D`, `TilesMut2D`, `Tensor`, `TensorMut`) takes a `Buffer2D`, a tensor of other \
            extents a `BufferNd` of as many dimensions, any other view a `Buffer`",
    note = "the buffer's element type and the view's must match"
)]
pub trait Argument<P>: sealed::Sealed {
    /// Makes the argument what [`launch`](crate::launch()) takes.
    fn bind(self) -> Bound;
}

/// An argument whose type is known at run time only: for launches of an instance that is chosen at
/// run time.
///
/// It keeps the buffer's memory alive, and no borrow of the buffer: [`launch`](crate::launch())
/// checks that an output is used once, and orders launches that conflict.
///
/// # Examples
///
/// ```
/// # use tilepipe_host::{Bound, Device, Schedule};
/// let device = Device::cpu(Schedule::Lazy);
/// let input = device.upload(&[1, 2, 3])?;
/// let mut out = device.zeroed::<i32>(3)?;
/// let arguments = [Bound::input(&input), Bound::output(&mut out), Bound::scalar(0.5_f32)];
/// # let _ = arguments;
/// # Ok::<(), tilepipe_host::Error>(())
/// ```
#[derive(Clone)]
pub struct Bound {
    pub(crate) value: Value,
    pub(crate) kind: ParameterKind,
    pub(crate) element: TypeId,
    pub(crate) element_name: &'static str,
    /// The memory of a view.
    pub(crate) memory: Option<Memory>,
    /// Elements behind each row that hold nothing, of rows.
    pub(crate) padding: usize,
}

/// What a kernel gets of an argument. In each case 32 bytes, of which the first ones count, lie
/// where [`as_ptr`](Self::as_ptr) says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A plain value's bytes, little-endian.
    Scalar(Padded<u64, 3>),
    /// Elements in a row.
    Elements(Padded<RawElements, 2>),
    /// Elements in rows.
    Rows(RawRows),
    /// Elements of three dimensions or more, which only tensors take.
    Array(Array),
}

/// An array as the launch of a tensor finds it: where it lies, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Array {
    pub(crate) address: u64,
    pub(crate) dimensions: usize,
    /// Elements of a row, rows, planes and so on; 1 where there are not so many dimensions.
    pub(crate) extents: [u64; DIMENSIONS],
    /// Elements from one row's start to the next one's, from one plane's to the next one's and so
    /// on.
    pub(crate) pitches: [u64; DIMENSIONS - 1],
}

/// A value and zeros after it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Padded<T, const WORDS: usize> {
    pub(crate) value: T,
    zeros: [u64; WORDS],
}

impl<T, const WORDS: usize> Padded<T, WORDS> {
    pub(crate) const fn new(value: T) -> Self {
        const { assert!(size_of::<Self>() == size_of::<RawRows>()) };
        Padded { value, zeros: [0; WORDS] }
    }
}

impl Value {
    /// How many dimensions it has.
    pub(crate) fn dimensions(&self) -> usize {
        match self {
            Value::Scalar(_) => 0,
            Value::Elements(_) => 1,
            Value::Rows(_) => 2,
            Value::Array(array) => array.dimensions,
        }
    }

    /// As an array; `None` of a scalar.
    pub(crate) fn array(&self) -> Option<Array> {
        match *self {
            Value::Scalar(_) => None,
            Value::Elements(Padded { value: RawElements { address, len }, .. }) => {
                Some(Array { address, dimensions: 1, extents: [len, 1, 1, 1, 1], pitches: [len; 4] })
            }
            Value::Rows(RawRows { address, width, height, pitch }) => {
                Some(Array { address, dimensions: 2, extents: [width, height, 1, 1, 1], pitches: [pitch; 4] })
            }
            Value::Array(array) => Some(array),
        }
    }

    /// The first element's address, of a view.
    pub(crate) fn address(&self) -> Option<u64> {
        match self {
            Value::Scalar(_) => None,
            Value::Elements(elements) => Some(elements.value.address),
            Value::Rows(rows) => Some(rows.address),
            Value::Array(array) => Some(array.address),
        }
    }

    /// Elements from one row's start to the next one's, of rows.
    pub(crate) fn pitch(&self) -> Option<usize> {
        match self {
            Value::Scalar(_) | Value::Elements(_) => None,
            Value::Rows(rows) => Some(rows.pitch as usize),
            Value::Array(array) => Some(array.pitches[0] as usize),
        }
    }

    /// Where the bytes lie, for a driver that copies them.
    pub(crate) fn as_ptr(&self) -> *const c_void {
        match self {
            Value::Scalar(scalar) => ptr::from_ref(scalar).cast(),
            Value::Elements(elements) => ptr::from_ref(elements).cast(),
            Value::Rows(rows) => ptr::from_ref(rows).cast(),
            Value::Array(array) => ptr::from_ref(array).cast(),
        }
    }

    /// The 32 bytes, as words.
    pub(crate) fn words(&self) -> [u64; 4] {
        match *self {
            Value::Scalar(Padded { value, zeros: [a, b, c] }) => [value, a, b, c],
            Value::Elements(Padded { value, zeros: [a, b] }) => [value.address, value.len, a, b],
            Value::Rows(RawRows { address, width, height, pitch }) => [address, width, height, pitch],
            // What tensors take is not passed like this.
            Value::Array(Array { address, .. }) => [address, 0, 0, 0],
        }
    }

    /// The bytes, for a kernel on the CPU.
    pub(crate) fn raw(&self) -> RawParameter {
        match self {
            Value::Scalar(scalar) => RawParameter::of(scalar.value),
            Value::Elements(elements) => RawParameter::of(elements.value),
            Value::Rows(rows) => RawParameter::of(*rows),
            Value::Array(_) => RawParameter::of(self.words()),
        }
    }
}

impl Bound {
    /// Binds a buffer that the kernel reads.
    pub fn input<T: Element>(buffer: &Buffer<T>) -> Bound {
        Bound::view(buffer, 0, buffer.len(), ParameterKind::Input)
    }

    /// Binds a buffer that the kernel writes.
    pub fn output<T: Element>(buffer: &mut Buffer<T>) -> Bound {
        Bound::view(buffer, 0, buffer.len(), ParameterKind::Output)
    }

    /// Binds part of a buffer that the kernel reads.
    pub fn input_slice<T: Element>(slice: Slice<'_, T>) -> Bound {
        Bound::view(slice.buffer(), slice.start(), slice.len(), ParameterKind::Input)
    }

    /// Binds part of a buffer that the kernel writes.
    pub fn output_slice<T: Element>(slice: SliceMut<'_, T>) -> Bound {
        Bound::view(slice.buffer(), slice.start(), slice.len(), ParameterKind::Output)
    }

    /// Binds a two-dimensional buffer that the kernel reads.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let input = device.upload_2d(&[1, 2, 3, 4, 5, 6], 3)?;
    /// let mut out = device.zeroed_2d::<i32>(3, 2)?;
    /// let arguments = [Bound::input_2d(&input), Bound::output_2d(&mut out)];
    /// # let _ = arguments;
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn input_2d<T: Element>(buffer: &Buffer2D<T>) -> Bound {
        Bound::input_rows(buffer.as_rows())
    }

    /// Binds a two-dimensional buffer that the kernel writes.
    pub fn output_2d<T: Element>(buffer: &mut Buffer2D<T>) -> Bound {
        Bound::output_rows(buffer.as_rows_mut())
    }

    /// Binds rows that the kernel reads.
    pub fn input_rows<T: Element>(rows: Rows<'_, T>) -> Bound {
        Bound::rows(rows.parts(), ParameterKind::Input)
    }

    /// Binds rows that the kernel writes.
    pub fn output_rows<T: Element>(rows: RowsMut<'_, T>) -> Bound {
        Bound::rows(rows.parts(), ParameterKind::Output)
    }

    /// Binds a buffer of several dimensions that the kernel reads.
    pub fn input_nd<T: Element, const N: usize>(buffer: &BufferNd<T, N>) -> Bound {
        Bound::input_slice_nd(buffer.as_slice())
    }

    /// Binds a buffer of several dimensions that the kernel writes.
    pub fn output_nd<T: Element, const N: usize>(buffer: &mut BufferNd<T, N>) -> Bound {
        Bound::output_slice_nd(buffer.as_slice_mut())
    }

    /// Binds part of a buffer of several dimensions that the kernel reads.
    pub fn input_slice_nd<T: Element, const N: usize>(slice: SliceNd<'_, T, N>) -> Bound {
        Bound::array(slice.parts(), ParameterKind::Input)
    }

    /// Binds part of a buffer of several dimensions that the kernel writes.
    pub fn output_slice_nd<T: Element, const N: usize>(slice: SliceNdMut<'_, T, N>) -> Bound {
        Bound::array(slice.parts(), ParameterKind::Output)
    }

    /// Binds a plain value.
    pub fn scalar<S: Scalar>(value: S) -> Bound {
        Bound {
            value: Value::Scalar(Padded::new(value.word())),
            kind: ParameterKind::Scalar,
            element: TypeId::of::<S>(),
            element_name: type_name::<S>(),
            memory: None,
            padding: 0,
        }
    }

    /// Binds the `len` elements of `buffer` from `start` on; the callers' invariants keep them
    /// within it.
    fn view<T: Element>(buffer: &Buffer<T>, start: usize, len: usize, kind: ParameterKind) -> Bound {
        let elements = RawElements { address: address_of(buffer, start), len: len as u64 };
        Bound::of(buffer, Value::Elements(Padded::new(elements)), kind)
    }

    /// Binds the rectangle, which lies within its buffer by the callers' invariants.
    fn rows<T: Element>((buffer, rectangle): (&Buffer<T>, Rectangle), kind: ParameterKind) -> Bound {
        let Rectangle { start, width, height, pitch, padding } = rectangle;
        let [width, height, pitch] = [width, height, pitch].map(|elements| elements as u64);
        let rows = RawRows { address: address_of(buffer, start), width, height, pitch };
        Bound { padding, ..Bound::of(buffer, Value::Rows(rows), kind) }
    }

    /// Binds the elements of the layout, which lie within their buffer by its invariant.
    fn array<T: Element, const N: usize>((buffer, layout): (&Buffer<T>, Layout<N>), kind: ParameterKind) -> Bound {
        let Layout { start, padding, .. } = layout;
        let (mut extents, mut pitches) = ([1; DIMENSIONS], [0; DIMENSIONS - 1]);
        // The host counts dimensions from the outermost on.
        for (to, from) in extents.iter_mut().zip(layout.extents.iter().rev()) {
            *to = *from as u64;
        }
        for (to, from) in pitches.iter_mut().zip(layout.pitches.iter().rev().skip(1)) {
            *to = *from as u64;
        }
        let address = address_of(buffer, start);
        let value = match N {
            1 => Value::Elements(Padded::new(RawElements { address, len: extents[0] })),
            2 => Value::Rows(RawRows { address, width: extents[0], height: extents[1], pitch: pitches[0] }),
            _ => Value::Array(Array { address, dimensions: N, extents, pitches }),
        };
        Bound { padding, ..Bound::of(buffer, value, kind) }
    }

    /// Binds what lies in `buffer`.
    fn of<T: Element>(buffer: &Buffer<T>, value: Value, kind: ParameterKind) -> Bound {
        Bound {
            value,
            kind,
            element: TypeId::of::<T>(),
            element_name: type_name::<T>(),
            memory: Some(buffer.memory.clone()),
            padding: 0,
        }
    }

    /// Returns how the launch uses the memory.
    pub(crate) fn access(&self) -> Access {
        match self.kind {
            ParameterKind::Output => Access::Write,
            ParameterKind::Input | ParameterKind::Scalar => Access::Read,
        }
    }
}

/// The address of element `index`, which lies in the buffer.
fn address_of<T: Element>(buffer: &Buffer<T>, index: usize) -> u64 {
    buffer.memory.address() + (index * size_of::<T>()) as u64
}

impl<T: Element, const LEN: usize> Argument<Tiles<'_, T, LEN>> for &Buffer<T> {
    fn bind(self) -> Bound {
        Bound::input(self)
    }
}

impl<T: Element, const LEN: usize, const HALO: usize> Argument<Halos<'_, T, LEN, HALO>> for &Buffer<T> {
    fn bind(self) -> Bound {
        Bound::input(self)
    }
}

impl<T: Element, const LEN: usize, A> Argument<TilesMut<'_, T, LEN, A>> for &mut Buffer<T> {
    fn bind(self) -> Bound {
        Bound::output(self)
    }
}

impl<T: Element, const LEN: usize> Argument<BulkTilesMut<'_, T, LEN>> for &mut Buffer<T> {
    fn bind(self) -> Bound {
        Bound::output(self)
    }
}

impl<T: Element, const LEN: usize> Argument<BulkTilesMut<'_, T, LEN>> for SliceMut<'_, T> {
    fn bind(self) -> Bound {
        Bound::output_slice(self)
    }
}

impl<T: Element, const LEN: usize> Argument<Tiles<'_, T, LEN>> for Slice<'_, T> {
    fn bind(self) -> Bound {
        Bound::input_slice(self)
    }
}

impl<T: Element, const LEN: usize, const HALO: usize> Argument<Halos<'_, T, LEN, HALO>> for Slice<'_, T> {
    fn bind(self) -> Bound {
        Bound::input_slice(self)
    }
}

impl<T: Element, const LEN: usize, A> Argument<TilesMut<'_, T, LEN, A>> for SliceMut<'_, T> {
    fn bind(self) -> Bound {
        Bound::output_slice(self)
    }
}

/// A plain value that a kernel can take as a parameter.
pub trait Scalar: sealed::Sealed + Copy + 'static {
    /// Returns the value's bytes, little-endian, filled up with zeros.
    #[doc(hidden)]
    fn word(self) -> u64;
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for &super::Buffer<T> {}
    impl<T> Sealed for &mut super::Buffer<T> {}
    impl<T> Sealed for super::Slice<'_, T> {}
    impl<T> Sealed for super::SliceMut<'_, T> {}
}

macro_rules! scalars {
    ($($scalar:ty),*) => {$(
        impl sealed::Sealed for $scalar {}

        impl Scalar for $scalar {
            fn word(self) -> u64 {
                let mut bytes = [0; 8];
                bytes[..size_of::<$scalar>()].copy_from_slice(&self.to_le_bytes());
                u64::from_le_bytes(bytes)
            }
        }

        impl Argument<$scalar> for $scalar {
            fn bind(self) -> Bound {
                Bound::scalar(self)
            }
        }
    )*};
}
scalars!(u32, i32, u64, i64, f32, f64, usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_keep_their_bytes_and_zeros_after_them() {
        let words = |bound: Bound| bound.value.raw().get::<[u64; 16]>();
        let first = |word| {
            let mut words = [0; 16];
            words[0] = word;
            words
        };
        assert_eq!(words(Bound::scalar(-1_i32)), first(0xFFFF_FFFF));
        assert_eq!(words(Bound::scalar(1.0_f32)), first(0x3F80_0000));
        assert_eq!(words(Bound::scalar(-2_i64)), first(u64::MAX - 1));
        assert_eq!(words(Bound::scalar(1.5_f64)), first(1.5_f64.to_bits()));
        let rows = RawRows { address: 1, width: 2, height: 3, pitch: 4 };
        assert_eq!(Value::Rows(rows).raw().get::<RawRows>(), rows);
        assert_eq!(Value::Rows(rows).raw().get::<[u64; 5]>(), [1, 2, 3, 4, 0]);
        let elements = Value::Elements(Padded::new(RawElements { address: 1, len: 2 }));
        for (value, expected) in [
            (Bound::scalar(-1_i32).value, [0xFFFF_FFFF, 0, 0, 0]),
            (elements, [1, 2, 0, 0]),
            (Value::Rows(rows), [1, 2, 3, 4]),
        ] {
            // SAFETY: 32 bytes lie there, aligned to 8.
            assert_eq!(unsafe { value.as_ptr().cast::<[u64; 4]>().read() }, expected);
        }
    }
}
