//! Arrays that were taken out of Python's capsules.

use std::ffi::CStr;
use std::ptr::NonNull;
use std::slice;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::dlpack::{MAJOR, Managed, ManagedVersioned, NAMES, Tensor, VERSIONED_NAMES};

/// An array that this value owns: its memory stays until it is dropped.
///
/// # Invariants
///
/// 0. The pointer is to a whole structure of its version, which nobody else frees. Its `shape` has
///    as many extents as there are dimensions, and so have its `strides` unless they are null.
pub enum Taken {
    /// As producers made it up to version 1.
    Unversioned(NonNull<Managed>),
    /// With flags, of major version 1.
    Versioned(NonNull<ManagedVersioned>),
}

impl Taken {
    /// Takes the array out of a capsule, which is marked as used then.
    ///
    /// The capsule's name says what is in it: that is what DLPack's producers promise, and Python
    /// code cannot make a capsule itself.
    ///
    /// # Errors
    ///
    /// `ValueError` for a capsule that was used before, or of another major version; `TypeError`
    /// for any other capsule. `name` is what the argument is called.
    pub fn from_capsule(name: &str, capsule: &Bound<'_, PyCapsule>) -> PyResult<Taken> {
        let has = |name| capsule.is_valid_checked(Some(name));
        let [fresh, used] = if has(VERSIONED_NAMES[0]) { VERSIONED_NAMES } else { NAMES };
        if has(NAMES[1]) || has(VERSIONED_NAMES[1]) {
            return Err(PyValueError::new_err(format!(
                "{name}: this capsule was consumed before, and its array is gone; export the array again, \
                 or pass the array itself"
            )));
        }
        if !has(fresh) {
            return Err(PyTypeError::new_err(format!(
                "{name}: this capsule holds no array of DLPack's; pass a tensor or an array itself"
            )));
        }
        let pointer = capsule.pointer_checked(Some(fresh))?;
        rename(capsule, used)?;
        if fresh == NAMES[0] {
            return Ok(Taken::Unversioned(pointer.cast()));
        }
        // SAFETY: a capsule of that name has a `DLManagedTensorVersioned`, which begins with its
        // version in each major one.
        let major = unsafe { pointer.cast::<u32>().read() };
        // Of another version nothing but the deleter, which lies where it does in this one, is
        // used: dropping the value calls it.
        let taken = Taken::Versioned(pointer.cast());
        if major != MAJOR {
            return Err(PyValueError::new_err(format!(
                "{name}: its capsule is of DLPack {major}, and this extension reads versions 0 and {MAJOR}; \
                 ask for one of those: `array.__dlpack__(max_version=(1, 0))`"
            )));
        }
        Ok(taken)
    }

    /// The array.
    pub fn tensor(&self) -> &Tensor {
        match self {
            // SAFETY: a whole structure that stays as long as this value (0).
            Taken::Unversioned(managed) => unsafe { &(*managed.as_ptr()).tensor },
            // SAFETY: as above.
            Taken::Versioned(managed) => unsafe { &(*managed.as_ptr()).tensor },
        }
    }

    /// What its producer says of it: nothing, in a version without flags.
    pub fn flags(&self) -> u64 {
        match self {
            Taken::Unversioned(_) => 0,
            // SAFETY: a whole structure that stays as long as this value (0).
            Taken::Versioned(managed) => unsafe { (*managed.as_ptr()).flags },
        }
    }

    /// Its extents.
    pub fn shape(&self) -> &[i64] {
        let tensor = self.tensor();
        // SAFETY: as many as there are dimensions (0).
        unsafe { numbers(tensor.shape, tensor.dimensions) }
    }

    /// How far apart its elements lie in each dimension, unless it has no gaps.
    pub fn strides(&self) -> Option<&[i64]> {
        let tensor = self.tensor();
        // SAFETY: as many as there are dimensions (0).
        (!tensor.strides.is_null()).then(|| unsafe { numbers(tensor.strides, tensor.dimensions) })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        match self {
            Taken::Unversioned(managed) => {
                // SAFETY: a whole structure (0).
                if let Some(delete) = unsafe { (*managed.as_ptr()).deleter } {
                    // SAFETY: nobody else frees it (0), and this is its last use.
                    unsafe { delete(managed.as_ptr()) };
                }
            }
            Taken::Versioned(managed) => {
                // SAFETY: a whole structure (0).
                if let Some(delete) = unsafe { (*managed.as_ptr()).deleter } {
                    // SAFETY: nobody else frees it (0), and this is its last use.
                    unsafe { delete(managed.as_ptr()) };
                }
            }
        }
    }
}

/// Marks a capsule as used: its destructor leaves alone what is in it from then on.
fn rename(capsule: &Bound<'_, PyCapsule>, name: &'static CStr) -> PyResult<()> {
    // SAFETY: a capsule, of which this thread may use what is Python's; the name lives for ever.
    match unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), name.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(capsule.py())),
    }
}

/// # Safety
///
/// 0. At `first` lie `count` numbers that stay for `'a`; it may be null where `count` is 0.
unsafe fn numbers<'a>(first: *const i64, count: i32) -> &'a [i64] {
    match usize::try_from(count) {
        // SAFETY: so many lie there (0).
        Ok(count @ 1..) => unsafe { slice::from_raw_parts(first, count) },
        _ => &[],
    }
}
