//! The arrays of a call, and what is checked of each by itself.

use std::fmt;
use std::ops::Range;

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use tilepipe_torch_kernels::{Element, bf16, f16};

use crate::capsule::Taken;
use crate::dlpack::{BFLOAT, CPU, CUDA, CUDA_HOST, DataType, FLOAT, IS_COPIED, READ_ONLY};
use crate::torch;

/// An element type that there are kernels for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    F32,
    F16,
    Bf16,
}

impl Number {
    fn data_type(self) -> DataType {
        let (code, bits) = match self {
            Number::F32 => (FLOAT, 32),
            Number::F16 => (FLOAT, 16),
            Number::Bf16 => (BFLOAT, 16),
        };
        DataType { code, bits, lanes: 1 }
    }

    /// Its bytes.
    fn bytes(self) -> usize {
        usize::from(self.data_type().bits / 8)
    }

    /// What NumPy and PyTorch call it.
    pub fn name(self) -> String {
        element_name(self.data_type())
    }
}

/// An element of a kernel's.
pub trait Numeric: Element {
    const NUMBER: Number;
}

impl Numeric for f32 {
    const NUMBER: Number = Number::F32;
}

impl Numeric for f16 {
    const NUMBER: Number = Number::F16;
}

impl Numeric for bf16 {
    const NUMBER: Number = Number::Bf16;
}

/// Whose memory an array is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Cpu,
    Cuda(u32),
}

/// An array of a call, whose memory stays until it is dropped.
///
/// # Invariants
///
/// 0. It has `len` elements of `number` from `address` on, without gaps, in memory of `place`.
/// 1. On a GPU it is a tensor of PyTorch's.
pub struct Array<'py> {
    object: Bound<'py, PyAny>,
    name: &'static str,
    number: Number,
    place: Place,
    address: u64,
    shape: Vec<usize>,
    len: usize,
    /// What keeps the memory.
    taken: Taken,
}

impl<'py> Array<'py> {
    /// Takes what was passed for the argument `name`: anything with `__dlpack__`, or the capsule
    /// that such a thing has returned. Its elements are of one of these types.
    ///
    /// # Errors
    ///
    /// `TypeError` for what is no array, or none of such elements; `ValueError` for one on another
    /// device, with gaps, or of several dimensions too few.
    pub fn take(name: &'static str, from: &Bound<'py, PyAny>, numbers: &[Number]) -> PyResult<Self> {
        let is_torch = torch::is_tensor(from)?;
        let taken = if is_torch {
            torch::export(name, from)?
        } else if let Ok(capsule) = from.cast::<PyCapsule>() {
            Taken::from_capsule(name, capsule)?
        } else {
            Taken::from_capsule(name, &export(name, from)?)?
        };
        let tensor = taken.tensor();
        let place = match (tensor.device.kind, u32::try_from(tensor.device.number)) {
            (CPU | CUDA_HOST, _) => Place::Cpu,
            (CUDA, Ok(number)) if is_torch => Place::Cuda(number),
            (CUDA, _) => {
                return Err(PyTypeError::new_err(format!(
                    "{name}: it is in a GPU's memory and no `torch.Tensor`; pass the tensor itself, or \
                     `torch.from_dlpack(..)` of it: PyTorch's stream is the one that is used"
                )));
            }
            (kind, _) => {
                return Err(PyValueError::new_err(format!(
                    "{name}: it is on a device of DLPack's kind {kind}; move it to the CPU or to a CUDA GPU"
                )));
            }
        };
        let Some(number) = numbers.iter().copied().find(|number| number.data_type() == tensor.element) else {
            let wanted: Vec<String> = numbers.iter().map(|number| number.name()).collect();
            return Err(PyTypeError::new_err(format!(
                "{name}: its elements are {}, and these kernels take {}; convert it first",
                element_name(tensor.element),
                wanted.join(" or ")
            )));
        };
        let shape = extents(name, taken.shape(), number.bytes())?;
        if taken.strides().is_some_and(|strides| !is_contiguous(&shape, strides)) {
            return Err(PyValueError::new_err(format!(
                "{name}: it is not contiguous (shape {}, strides {:?}); pass `.contiguous()` of a tensor, or \
                 `numpy.ascontiguousarray(..)` of an array",
                Shape(&shape),
                taken.strides().unwrap_or_default()
            )));
        }
        // No overflow: `extents` has seen to it.
        let len = shape.iter().product();
        let address = (tensor.data.expose_provenance() as u64).wrapping_add(tensor.byte_offset);
        if len > 0 && tensor.data.is_null() {
            return Err(PyValueError::new_err(format!(
                "{name}: it has {len} elements and no memory; pass an array that was allocated, not one on `meta`"
            )));
        }
        Ok(Array { object: from.clone(), name, number, place, address, shape, len, taken })
    }

    /// Fails unless the array may be written.
    ///
    /// # Errors
    ///
    /// `ValueError`.
    pub fn expect_writable(&self) -> PyResult<()> {
        let what = match self.taken.flags() {
            flags if flags & READ_ONLY != 0 => "it is read-only; pass an array that may be written",
            flags if flags & IS_COPIED != 0 => {
                "what was exported is a copy of it; pass an array that shares its memory"
            }
            _ => return Ok(()),
        };
        Err(PyValueError::new_err(format!("{}: it is an output, and {what}", self.name)))
    }

    /// Fails unless the array has this shape.
    ///
    /// # Errors
    ///
    /// `ValueError`, in which `why` says where the shape comes from.
    pub fn expect_shape(&self, shape: &[usize], why: &str) -> PyResult<()> {
        if self.shape == shape {
            return Ok(());
        }
        let (found, wanted) = (Shape(&self.shape), Shape(shape));
        Err(PyValueError::new_err(format!("{}: its shape is {found}, and {wanted} is needed: {why}", self.name)))
    }

    /// What Python passed.
    pub fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn number(&self) -> Number {
        self.number
    }

    pub fn place(&self) -> Place {
        self.place
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes that its elements lie in.
    pub fn bytes(&self) -> Range<u64> {
        self.address..self.address.saturating_add((self.len * self.number.bytes()) as u64)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Cpu => formatter.write_str("the CPU"),
            Place::Cuda(number) => write!(formatter, "cuda:{number}"),
        }
    }
}

/// A shape, as Python writes it.
pub struct Shape<'a>(pub &'a [usize]);

impl fmt::Display for Shape<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [one] => write!(formatter, "({one},)"),
            several => {
                let extents: Vec<_> = several.iter().map(usize::to_string).collect();
                write!(formatter, "({})", extents.join(", "))
            }
        }
    }
}

/// Asks an array for a capsule, of a version with flags if it knows one.
fn export<'py>(name: &str, from: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyCapsule>> {
    let py = from.py();
    if !from.hasattr("__dlpack__")? {
        return Err(PyTypeError::new_err(format!(
            "{name}: it is `{}`; pass a `torch.Tensor`, a `numpy.ndarray`, or another array with `__dlpack__`",
            from.get_type().name()?
        )));
    }
    let options = PyDict::new(py);
    options.set_item("max_version", (1, 0))?;
    let exported = match from.call_method("__dlpack__", (), Some(&options)) {
        // Producers of before version 1 do not know the option.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => from.call_method0("__dlpack__"),
        exported => exported,
    };
    let exported = exported.map_err(|error| match error.is_instance_of::<PyBufferError>(py) {
        true => PyValueError::new_err(format!("{name}: it cannot be shared: {}", error.value(py))),
        false => error,
    })?;
    Ok(exported.cast_into::<PyCapsule>()?)
}

/// The extents of an array, whose elements' bytes can be counted.
fn extents(name: &str, shape: &[i64], bytes_of_one: usize) -> PyResult<Vec<usize>> {
    let extents: Option<Vec<usize>> = shape.iter().map(|extent| usize::try_from(*extent).ok()).collect();
    let bytes =
        |extents: &Vec<usize>| extents.iter().try_fold(bytes_of_one, |bytes, extent| bytes.checked_mul(*extent));
    match extents.filter(|extents| bytes(extents).is_some_and(|bytes| isize::try_from(bytes).is_ok())) {
        Some(extents) => Ok(extents),
        None => Err(PyValueError::new_err(format!("{name}: no array has the shape {shape:?}"))),
    }
}

/// Whether elements lie one after the other, where there are several.
fn is_contiguous(shape: &[usize], strides: &[i64]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut apart = 1;
    shape.iter().zip(strides).rev().all(|(extent, stride)| {
        let fits = *extent == 1 || u64::try_from(*stride).is_ok_and(|stride| stride == apart);
        apart *= *extent as u64;
        fits
    })
}

/// What NumPy and PyTorch call an element type.
fn element_name(element: DataType) -> String {
    let kind = match element.code {
        0 => "int",
        1 => "uint",
        FLOAT => "float",
        BFLOAT => "bfloat",
        5 => "complex",
        6 => "bool",
        _ => "of DLPack's type code ",
    };
    let number = if matches!(element.code, 0..=6) { element.bits } else { element.code };
    match element.lanes {
        1 => format!("{kind}{number}"),
        lanes => format!("{kind}{number} in vectors of {lanes}"),
    }
}
