//! What can be wrong with a picture.

use std::io;
use std::path::PathBuf;

use super::{MOST_BYTES, NAMES};

/// Why a picture cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}; give --input the path of a PNG, JPEG or PNM picture")]
    Read {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file does not begin as a picture does.
    #[error("{path} is no PNG, JPEG or PNM picture; give --input the path of one")]
    NoPicture {
        /// The file.
        path: PathBuf,
    },
    /// The file begins as a picture does, and something in it is wrong.
    #[error("{path} is a truncated or damaged picture ({reason}); write it again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The picture's pixels are others than kernels take.
    #[error("{path} has pixels of {found}; kernels take 8-bit grey and 8-bit RGB, convert it")]
    Pixels {
        /// The file.
        path: PathBuf,
        /// What its pixels are.
        found: &'static str,
    },
    /// The picture has no pixel, or too many.
    #[error(
        "{path} has {width} x {height} pixels; kernels take pictures of 1 to {MOST_BYTES} bytes, {channels} for each pixel"
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// Its width in pixels.
        width: u32,
        /// Its height in pixels.
        height: u32,
        /// Bytes of a pixel.
        channels: usize,
    },
    /// A decoder would take more memory than for the largest picture.
    #[error("{path} needs more memory than the largest pictures that kernels take, which have {MOST_BYTES} bytes")]
    Memory {
        /// The file.
        path: PathBuf,
    },
    /// The name of the output does not say in which format it is to be written.
    #[error("cannot tell from its name how to write {path}; give --output a name that ends in {}", NAMES.join(", "))]
    Name {
        /// The file.
        path: PathBuf,
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
