//! The types that have the functions.

use crate::element::Element;

/// A floating-point type with these functions. Sealed: `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`tilepipe::math` has no functions for `{Self}`",
    note = "they are for `f32` and `f64`; convert `f16` and `bf16` with `to_f32()` and `from_f32(..)`"
)]
pub trait Float: Element + sealed::Operations {}

impl Float for f32 {}
impl Float for f64 {}

mod sealed {
    use super::super::{arithmetic, exponential, logarithm, power, rounding, trigonometric};

    /// What [`Float`](super::Float) has for each type.
    pub trait Operations:
        arithmetic::Arithmetic
        + exponential::Exponential
        + logarithm::Logarithm
        + power::Power
        + rounding::Rounding
        + trigonometric::Trigonometric
    {
    }

    impl Operations for f32 {}
    impl Operations for f64 {}
}
