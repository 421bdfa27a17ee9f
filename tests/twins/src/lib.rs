//! Hand-written unsafe twins of safe kernels: raw pointers, raw instructions, and nobody's types to
//! check them.
//!
//! Each twin has the symbol of the kernel in `kernels/` that it is compared with
//! (`tests/tests/twins.rs`) and does what that kernel does: partial tiles, fewer tiles than blocks,
//! and the end of the launch where the output has fewer tiles than the input. No index of an input,
//! of a stage or of a thread is checked. What differs in the generated code is what the types cost.
//!
//! There is nothing to run, and on other targets than the GPU this crate is empty.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch))]
#![cfg_attr(
    target_arch = "nvptx64",
    allow(clippy::multiple_unsafe_ops_per_block, reason = "a kernel by hand is one unsafe block, and so is its proof")
)]

#[cfg(target_arch = "nvptx64")]
mod device;
#[cfg(target_arch = "nvptx64")]
mod memcpy_async;
#[cfg(target_arch = "nvptx64")]
mod moving_average;
#[cfg(target_arch = "nvptx64")]
mod roles;
#[cfg(target_arch = "nvptx64")]
mod rows;
#[cfg(target_arch = "nvptx64")]
mod scale_own;
#[cfg(target_arch = "nvptx64")]
mod specialized_staging;
#[cfg(target_arch = "nvptx64")]
mod staging;
#[cfg(target_arch = "nvptx64")]
mod staging_unified;
#[cfg(target_arch = "nvptx64")]
mod stencil;
#[cfg(target_arch = "nvptx64")]
mod tensor_cores;
#[cfg(target_arch = "nvptx64")]
mod transpose;
