//! The operators: what is checked of their arrays together, and their launches.

use pyo3::PyResult;
use pyo3::exceptions::{PyTypeError, PyValueError};

use crate::array::{Array, Number};

pub mod attention;
pub mod layer;
pub mod norm;

/// The element types that tensor cores multiply here.
const HALVES: [Number; 2] = [Number::Bf16, Number::F16];
/// What an array's first element lies at a multiple of, in bytes, for the copy engine.
const ALIGNMENT: u64 = 16;

/// Fails unless all arrays have elements of one type, and begin where the copy engine can.
fn expect_alike(read: &[&Array], written: &[&Array]) -> PyResult<()> {
    let first = read[0];
    for array in read.iter().chain(written) {
        let name = array.name();
        if array.number() != first.number() {
            let (one, other) = (array.number().name(), first.number().name());
            return Err(PyTypeError::new_err(format!(
                "{name}: its elements are {one}, and those of {} are {other}; convert one of them",
                first.name()
            )));
        }
        if array.len() > 0 && !array.address().is_multiple_of(ALIGNMENT) {
            return Err(PyValueError::new_err(format!(
                "{name}: it begins at no multiple of {ALIGNMENT} bytes, as a part of another array may; pass a copy of it"
            )));
        }
    }
    Ok(())
}
