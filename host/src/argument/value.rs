//! What a kernel gets of an argument.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use tilepipe::Element;
use tilepipe::launch::{RawConstant, RawElements, RawParameter, RawRows, VALUE_ALIGNMENT};

use crate::buffer::DIMENSIONS;

/// What a kernel gets of an argument. Its bytes lie where [`as_ptr`](Self::as_ptr) says: of a
/// constant as many as it has, and in every other case 32, of which the first ones count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A plain value's bytes.
    Scalar(Padded<[u64; 2], 2>),
    /// Those of a constant, as many as it has.
    Constant(Bytes),
    /// Elements in a row.
    Elements(Padded<RawElements, 2>),
    /// Elements in rows.
    Rows(RawRows),
    /// Elements of three dimensions or more, which only tensors take. (Launches move and copy
    /// values, and few are arrays.)
    Array(Box<Array>),
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

/// The bytes of a constant, which nobody writes: they start at a multiple of [`VALUE_ALIGNMENT`],
/// and zeros fill the last 16.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bytes(Arc<[u128]>);

impl Bytes {
    /// Copies a value's.
    pub(super) fn of<T: Element>(value: &T) -> Bytes {
        Bytes::copied(bytemuck::bytes_of(value))
    }

    /// Copies these, of a value.
    pub(crate) fn copied(bytes: &[u8]) -> Bytes {
        const { assert!(align_of::<u128>() >= VALUE_ALIGNMENT) };
        let words = bytes.chunks(size_of::<u128>()).map(|piece| {
            let mut word = [0; size_of::<u128>()];
            word[..piece.len()].copy_from_slice(piece);
            u128::from_ne_bytes(word)
        });
        Bytes(words.collect())
    }

    fn as_ptr(&self) -> *const u128 {
        self.0.as_ptr()
    }
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

/// No elements, for what a launch may leave out. (The address is aligned for whatever it is checked
/// for.)
pub(crate) const NOTHING: Value = Value::Rows(RawRows { address: 256, width: 0, height: 0, pitch: 0 });

/// Rows as an array of matrices of so many rows and columns; `None` if they are not divided so
/// without a rest.
pub(crate) fn matrices(all: RawRows, [rows, columns]: [u64; 2]) -> Option<Value> {
    let RawRows { address, width, height, pitch } = all;
    if rows == 0 || columns == 0 || !height.is_multiple_of(rows) || !width.is_multiple_of(columns) {
        return None;
    }
    let extents = [columns, rows, width / columns, height / rows, 1];
    let pitches = [pitch, columns, rows.saturating_mul(pitch), 0];
    Some(Value::Array(Box::new(Array { address, dimensions: 4, extents, pitches })))
}

/// Rows as an array whose fourth dimension they are: each is matrices of so many rows and columns,
/// without a rest, or it is `None`.
pub(crate) fn matrices_of_rows(all: RawRows, [rows, columns]: [u64; 2]) -> Option<Value> {
    let RawRows { address, width, height, pitch } = all;
    let matrix = rows.checked_mul(columns).filter(|elements| *elements > 0 && width.is_multiple_of(*elements))?;
    let (extents, pitches) = ([columns, rows, width / matrix, height, 1], [columns, matrix, pitch, 0]);
    Some(Value::Array(Box::new(Array { address, dimensions: 4, extents, pitches })))
}

impl Value {
    /// A plain value's, of at most 16 bytes; of more the first 16.
    pub(crate) fn scalar(bytes: &[u8]) -> Value {
        let mut words = [0_u64; 2];
        for (to, from) in bytemuck::bytes_of_mut(&mut words).iter_mut().zip(bytes) {
            *to = *from;
        }
        Value::Scalar(Padded::new(words))
    }

    /// How many dimensions it has.
    pub(crate) fn dimensions(&self) -> usize {
        match self {
            Value::Scalar(_) | Value::Constant(_) => 0,
            Value::Elements(_) => 1,
            Value::Rows(_) => 2,
            Value::Array(array) => array.dimensions,
        }
    }

    /// As an array; `None` of a value.
    pub(crate) fn array(&self) -> Option<Array> {
        match *self {
            Value::Scalar(_) | Value::Constant(_) => None,
            Value::Elements(Padded { value: RawElements { address, len }, .. }) => {
                Some(Array { address, dimensions: 1, extents: [len, 1, 1, 1, 1], pitches: [len; 4] })
            }
            Value::Rows(RawRows { address, width, height, pitch }) => {
                Some(Array { address, dimensions: 2, extents: [width, height, 1, 1, 1], pitches: [pitch; 4] })
            }
            Value::Array(ref array) => Some(**array),
        }
    }

    /// Says whether it is a view without elements.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Value::Scalar(_) | Value::Constant(_) => false,
            Value::Elements(elements) => elements.value.len == 0,
            Value::Rows(rows) => rows.width == 0 || rows.height == 0,
            Value::Array(array) => array.extents.contains(&0),
        }
    }

    /// The first element's address, of a view.
    pub(crate) fn address(&self) -> Option<u64> {
        match self {
            Value::Scalar(_) | Value::Constant(_) => None,
            Value::Elements(elements) => Some(elements.value.address),
            Value::Rows(rows) => Some(rows.address),
            Value::Array(array) => Some(array.address),
        }
    }

    /// Moves a view up by so many bytes: one that was bound before its memory's address was known.
    #[cfg(feature = "cudarc")]
    pub(crate) fn move_by(&mut self, bytes: u64) {
        match self {
            Value::Scalar(_) | Value::Constant(_) => {}
            Value::Elements(elements) => elements.value.address += bytes,
            Value::Rows(rows) => rows.address += bytes,
            Value::Array(array) => array.address += bytes,
        }
    }

    /// Elements from one row's start to the next one's, of rows.
    pub(crate) fn pitch(&self) -> Option<usize> {
        match self {
            Value::Scalar(_) | Value::Constant(_) | Value::Elements(_) => None,
            Value::Rows(rows) => Some(rows.pitch as usize),
            Value::Array(array) => Some(array.pitches[0] as usize),
        }
    }

    /// Where the bytes lie, for a driver that copies them.
    pub(crate) fn as_ptr(&self) -> *const c_void {
        match self {
            Value::Scalar(scalar) => ptr::from_ref(scalar).cast(),
            Value::Constant(bytes) => bytes.as_ptr().cast(),
            Value::Elements(elements) => ptr::from_ref(elements).cast(),
            Value::Rows(rows) => ptr::from_ref(rows).cast(),
            Value::Array(array) => ptr::from_ref::<Array>(array).cast(),
        }
    }

    /// The 32 bytes, as words; `None` of what is not passed like this: a constant, and an array,
    /// which a tensor takes.
    pub(crate) fn words(&self) -> Option<[u64; 4]> {
        match *self {
            Value::Scalar(Padded { value: [a, b], zeros: [c, d] }) => Some([a, b, c, d]),
            Value::Elements(Padded { value, zeros: [a, b] }) => Some([value.address, value.len, a, b]),
            Value::Rows(RawRows { address, width, height, pitch }) => Some([address, width, height, pitch]),
            Value::Constant(_) | Value::Array(_) => None,
        }
    }

    /// The bytes, for a kernel on the CPU, which reads those of a constant where they lie: in
    /// `self` and its clones.
    pub(crate) fn raw(&self) -> RawParameter {
        match self {
            Value::Scalar(scalar) => RawParameter::of(scalar.value),
            Value::Elements(elements) => RawParameter::of(elements.value),
            Value::Rows(rows) => RawParameter::of(*rows),
            Value::Constant(bytes) => {
                RawParameter::of(RawConstant { address: bytes.as_ptr().expose_provenance() as u64 })
            }
            // A tensor alone takes it, and is passed as what is made of it.
            Value::Array(array) => RawParameter::of(array.address),
        }
    }
}
