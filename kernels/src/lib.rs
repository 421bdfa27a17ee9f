//! The kernels of the CUDA programming guide and larger ones, written with tilepipe and without `unsafe`.
//!
//! Each takes one input view and one output view of any length; `T` is the element type, `THREADS` the block size,
//! `STAGES` the number of stages, `C` what is computed on a tile.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

mod average;
pub mod compute;
pub mod faulty;
mod single_stage;
mod staging;
mod staging_unified;
mod synchronous;

pub use average::{RADIUS, moving_average};
pub use single_stage::with_single_stage;
pub use staging::with_staging;
pub use staging_unified::with_staging_unified;
pub use synchronous::without_memcpy_async;

/// All instances of all kernels, kernel by kernel.
#[cfg(not(target_arch = "nvptx64"))]
pub fn registry() -> [&'static [tilepipe::launch::Instance]; 5] {
    [
        &without_memcpy_async::INSTANCES,
        &with_single_stage::INSTANCES,
        &with_staging::INSTANCES,
        &with_staging_unified::INSTANCES,
        &moving_average::INSTANCES,
    ]
}

/// The README's example, as a test.
#[cfg(all(doctest, not(target_arch = "nvptx64")))]
#[doc = include_str!("../../README.md")]
pub struct Readme;
