//! Memory of buffers that an argument borrows: what a typed launch makes of a buffer, without a
//! handle more of its memory.

use std::any::{TypeId, type_name};

use tilepipe::Element;
use tilepipe::launch::{ParameterKind, RawElements, RawRows};

use super::{Array, Bound, Padded, Place, Value};
use crate::buffer::{
    Buffer, Buffer2D, BufferNd, DIMENSIONS, Layout, Rectangle, Rows, RowsMut, Slice, SliceMut, SliceNd, SliceNdMut,
};

/// What is all of a buffer, or part of one, and borrowed for `'a`.
pub(crate) trait ToBind<'a> {
    /// Binds it as a parameter of this kind takes it.
    fn bound(self, kind: ParameterKind) -> Bound<'a>;
}

impl<'a, T: Element> ToBind<'a> for &'a Buffer<T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_a_row((self, 0, self.len()), kind)
    }
}

impl<'a, T: Element> ToBind<'a> for &'a mut Buffer<T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        (&*self).bound(kind)
    }
}

impl<'a, T: Element> ToBind<'a> for Slice<'a, T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_a_row(self.parts(), kind)
    }
}

impl<'a, T: Element> ToBind<'a> for SliceMut<'a, T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_a_row(self.parts(), kind)
    }
}

impl<'a, T: Element> ToBind<'a> for &'a Buffer2D<T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        self.as_rows().bound(kind)
    }
}

impl<'a, T: Element> ToBind<'a> for &'a mut Buffer2D<T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        self.as_rows_mut().bound(kind)
    }
}

impl<'a, T: Element> ToBind<'a> for Rows<'a, T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_rows(self.parts(), kind)
    }
}

impl<'a, T: Element> ToBind<'a> for RowsMut<'a, T> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_rows(self.parts(), kind)
    }
}

impl<'a, T: Element, const N: usize> ToBind<'a> for &'a BufferNd<T, N> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        self.as_slice().bound(kind)
    }
}

impl<'a, T: Element, const N: usize> ToBind<'a> for &'a mut BufferNd<T, N> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        self.as_slice_mut().bound(kind)
    }
}

impl<'a, T: Element, const N: usize> ToBind<'a> for SliceNd<'a, T, N> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_an_array(self.parts(), kind)
    }
}

impl<'a, T: Element, const N: usize> ToBind<'a> for SliceNdMut<'a, T, N> {
    fn bound(self, kind: ParameterKind) -> Bound<'a> {
        in_an_array(self.parts(), kind)
    }
}

/// Binds the `len` elements of the buffer from `start` on; the callers' invariants keep them within
/// it.
fn in_a_row<T: Element>((buffer, start, len): (&Buffer<T>, usize, usize), kind: ParameterKind) -> Bound<'_> {
    let elements = RawElements { address: address_of(buffer, start), len: len as u64 };
    of(buffer, Value::Elements(Padded::new(elements)), 0, kind)
}

/// Binds the rectangle, which lies within its buffer by the callers' invariants.
fn in_rows<T: Element>((buffer, rectangle): (&Buffer<T>, Rectangle), kind: ParameterKind) -> Bound<'_> {
    let Rectangle { start, width, height, pitch, padding } = rectangle;
    let [width, height, pitch] = [width, height, pitch].map(|elements| elements as u64);
    let rows = RawRows { address: address_of(buffer, start), width, height, pitch };
    of(buffer, Value::Rows(rows), padding, kind)
}

/// Binds the elements of the layout, which lie within their buffer by its invariant.
fn in_an_array<T: Element, const N: usize>(
    (buffer, layout): (&Buffer<T>, Layout<N>),
    kind: ParameterKind,
) -> Bound<'_> {
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
        _ => Value::Array(Box::new(Array { address, dimensions: N, extents, pitches })),
    };
    of(buffer, value, padding, kind)
}

/// Binds what lies in the buffer.
fn of<T: Element>(buffer: &Buffer<T>, value: Value, padding: usize, kind: ParameterKind) -> Bound<'_> {
    let place = Some(Place::Borrowed(&buffer.memory));
    Bound { value, kind, element: TypeId::of::<T>(), element_name: type_name::<T>(), place, padding }
}

/// The address of element `index`, which lies in the buffer.
fn address_of<T: Element>(buffer: &Buffer<T>, index: usize) -> u64 {
    buffer.memory.address() + (index * size_of::<T>()) as u64
}
