//! The root mean square norm of rows, and its gradients.
//!
//! Of a row `x` of `n` elements with weights `w`: `y = x * r * w`, where
//! `r = 1 / sqrt(mean(x * x) + eps)`. With the gradient `g` of `y` the gradients are
//! `r * (g * w - x * r * r * mean(g * w * x))` of `x`, and of `w` the sum of `g * x * r` over the
//! rows.
//!
//! Rows lie one after the other, and may be of any width. A kernel in [`Fours`] reads and writes
//! four elements at once: its rows start at multiples of 16 bytes. One in [`Ones`] takes any rows.
#![cfg_attr(target_arch = "nvptx64", no_std)]
#![forbid(unsafe_code)]
#![allow(clippy::too_many_arguments, reason = "a launch has as many as its kernel reads and writes")]

mod norm;
mod weights;

#[cfg(all(test, not(target_arch = "nvptx64")))]
mod tests;

pub use norm::{rms_norm, rms_norm_backward};
pub use weights::{rms_norm_weights, sum_rows};

/// The arrangement of outputs whose rows start at multiples of 16 bytes.
pub type Fours = tilepipe::Runs<4>;
/// The arrangement of outputs of any rows.
pub type Ones = tilepipe::Striped;
