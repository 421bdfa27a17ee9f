//! Two operators and their gradients: the root mean square norm of rows, and a layer of a network.
//!
//! # The norm
//!
//! Of a row `x` of `n` elements with weights `w`: `y = x * r * w`, where
//! `r = 1 / sqrt(mean(x * x) + eps)`. With the gradient `g` of `y` the gradients are
//! `r * (g * w - x * r * r * mean(g * w * x))` of `x`, and of `w` the sum of `g * x * r` over the
//! rows.
//!
//! Rows lie one after the other, and may be of any width. A kernel in [`Fours`] reads and writes
//! four elements at once: its rows start at multiples of 16 bytes. One in [`Ones`] takes any rows.
//!
//! # The layer
//!
//! Of inputs `x`, a row each, `y = activation(x * W^T + bias)`, in `bf16` or `f16` with sums in
//! `f32`, by tensor cores (sm_90a). With the gradient `g` of what the activation is of, that of `x`
//! is `g * W`, and that of `W` is `g^T * x`. Rows start at multiples of 16 bytes: inputs and
//! outputs are as many as a multiple of 8.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]
#![allow(clippy::too_many_arguments, reason = "a launch has as many as its kernel reads and writes")]

mod layer;
mod norm;
mod weights;

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests;

pub use layer::{Activation, Linear, Silu, linear, linear_inputs, linear_weights};
pub use norm::{rms_norm, rms_norm_backward};
pub use weights::{rms_norm_weights, sum_rows};

pub use tilepipe::{Element, bf16, f16};

/// The arrangement of outputs whose rows start at multiples of 16 bytes.
pub type Fours = tilepipe::Runs<4>;
/// The arrangement of outputs of any rows.
pub type Ones = tilepipe::Striped;
