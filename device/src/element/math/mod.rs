//! Floating-point functions for kernels: `core` has none on a GPU.
//!
//! Every function returns the same bits on the GPU and on the CPU: it consists of operations that
//! are exact or rounded once, and of no approximation that hardware or a library chooses.
//! Subnormal numbers are never flushed to zero. Only a NaN's sign and payload may differ between
//! the two.
//!
//! The operators `+`, `-`, `*`, `/` keep that promise too: the compiler does not fuse `a * b + c`,
//! so write [`fma`] where one rounding or one instruction is wanted. The methods of `std`, such as
//! `f32::exp`, do not keep it: they exist on the CPU alone, and the platform's library decides on
//! their last bit.
//!
//! | function | error in `f32` | in `f64` | CUDA's |
//! |---|---|---|---|
//! | [`fma`], [`sqrt`] | rounded to nearest | rounded to nearest | `fmaf`, `__fsqrt_rn` |
//! | [`min`], [`max`], [`abs`] | exact | exact | `fminf`, `fmaxf`, `fabsf` |
//! | [`floor`], [`round`], [`round_ties_even`] | exact | exact | `floorf`, `roundf`, `rintf` |
//! | [`rsqrt`] | 1.5 ulp | 1.5 ulp | `rsqrtf` |
//! | [`rsqrt_fast`] | 1.1 ulp | 1.1 ulp | `rsqrtf` |
//! | [`powi`] | as the exponent | as the exponent | `powif` |
//! | [`exp`] | 0.9 ulp | 1 ulp | `expf` |
//! | [`exp2`] | 0.9 ulp | 1 ulp | `exp2f` |
//! | [`exp_fast`] | 11 ulp | 4 ulp | `__expf` |
//! | [`log`] | 1 ulp | 1 ulp | `logf` |
//! | [`log2`] | 1 ulp | 1 ulp | `log2f` |
//! | [`sin`], [`cos`] | 1.55 ulp | 1.6 ulp | `sinf`, `cosf` |
//! | [`tanh`] | 1.6 ulp | 2 ulp | `tanhf` |
//!
//! Each error is less than that from the exact value; an ulp is the distance between neighbouring
//! numbers at the exact value. Those in `f32` were measured for every argument.
//!
//! # Examples
//!
//! This turns scores into weights that add up to 1, with the same bits on both sides:
//!
//! ```
//! use tilepipe::math;
//!
//! fn softmax(scores: [f32; 4]) -> [f32; 4] {
//!     let greatest = scores.into_iter().fold(f32::NEG_INFINITY, math::max);
//!     let weights = scores.map(|score| math::exp(score - greatest));
//!     let sum: f32 = weights.iter().sum();
//!     weights.map(|weight| weight / sum)
//! }
//! assert_eq!(softmax([1.0, 1.0, 1.0, 1.0]), [0.25; 4]);
//! ```

mod float;
mod functions;
#[macro_use]
mod polynomial;
mod arithmetic;
mod exponential;
mod logarithm;
mod power;
mod reduction;
mod rounding;
mod trigonometric;

pub use self::float::Float;
pub use self::functions::{
    abs, cos, exp, exp_fast, exp2, floor, fma, log, log2, max, min, powi, round, round_ties_even, rsqrt, rsqrt_fast,
    sin, sqrt, tanh,
};
