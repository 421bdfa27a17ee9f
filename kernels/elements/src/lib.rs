//! The element types that the kernels of `tilepipe-kernels` add to tilepipe's own, and their
//! arithmetic.
//!
//! They are apart from the kernels so that a program that only handles data is not compiled again
//! when a kernel changes, and so that other kernels can use them.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]

mod number;

use tilepipe::Element;

pub use number::Number;

/// A complex number: a plain-data struct of a kernel author's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Element)]
#[repr(C)]
pub struct Complex {
    /// The real part.
    pub re: f32,
    /// The imaginary part.
    pub im: f32,
}

/// Three `f32`, CUDA's `float3`.
pub type Float3 = [f32; 3];
