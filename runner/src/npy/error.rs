//! What can be wrong with a file.

use std::io;
use std::path::PathBuf;

use crate::dtype::DType;
use crate::stdout::counted;

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}; give --input the path of a .npy file")]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file does not begin with a whole, valid header.
    #[error("{path} is not a .npy file ({reason}); write one with numpy.save")]
    NotNpy {
        /// The file.
        path: PathBuf,
        /// What is wrong with its header.
        reason: String,
    },
    /// The array's type or shape is not one that kernels take.
    #[error("{path} holds an array of dtype {descriptor} and shape {shape}; kernels take {wanted}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// Its dtype as NumPy spells it.
        descriptor: String,
        /// Its shape.
        shape: String,
        /// What is allowed.
        wanted: String,
    },
    /// The array is in Fortran order.
    #[error("{path} holds an array in Fortran order; convert it with numpy.ascontiguousarray and save it again")]
    FortranOrder {
        /// The file.
        path: PathBuf,
    },
    /// The array has no elements.
    #[error("{path} holds an array of shape {shape}, which has no elements; at least 1 is needed")]
    Empty {
        /// The file.
        path: PathBuf,
        /// Its shape.
        shape: String,
    },
    /// The file's length does not match its header.
    #[error(
        "{path} is {state}: its header promises {} of data, and what follows is {}; write it again",
        counted(*expected, "byte"),
        counted(*found, "byte")
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// `truncated` or `too long`.
        state: &'static str,
        /// Bytes that the header promises.
        expected: u128,
        /// Bytes that follow the header.
        found: u64,
    },
    /// NumPy has no such element type.
    #[error("NumPy has no type for elements of {dtype}; leave --output out, or choose another --dtype")]
    NoSuchType {
        /// The type.
        dtype: DType,
    },
    /// The output cannot be written.
    #[error("cannot write {path}: {reason}; give --output a path in a folder that can be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        reason: String,
    },
}
