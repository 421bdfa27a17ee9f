//! The part of the Python package `tilepipe_torch` that is in Rust: it takes arrays by DLPack,
//! checks them, and launches the kernels over their memory.
//!
//! `python/tilepipe_torch` has what Python programs call. Nothing here takes an address or a stream
//! of a caller's: arrays come from whoever made them, streams from PyTorch.

mod array;
mod call;
mod capsule;
mod device;
mod dlpack;
mod operators;
mod torch;

use pyo3::pymodule;

/// See `_native.pyi`.
#[pymodule(gil_used = true)]
mod _native {
    use pyo3::prelude::*;

    use crate::operators::{layer, norm};

    /// Writes the norm of each row of `x`.
    #[pyfunction]
    fn rms_norm<'py>(
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        weight: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
        eps: f64,
    ) -> PyResult<bool> {
        norm::rms_norm(py, x, weight, out, eps)
    }

    /// Writes the gradients of `x` and of `weight`.
    #[pyfunction]
    #[allow(clippy::too_many_arguments, reason = "as many as there are arrays")]
    fn rms_norm_backward<'py>(
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        weight: &Bound<'py, PyAny>,
        gradient: &Bound<'py, PyAny>,
        x_gradient: &Bound<'py, PyAny>,
        weight_gradient: &Bound<'py, PyAny>,
        factors: &Bound<'py, PyAny>,
        partial: &Bound<'py, PyAny>,
        eps: f64,
    ) -> PyResult<bool> {
        let given = norm::Gradients { x, weight, gradient, x_gradient, weight_gradient, factors, partial };
        norm::rms_norm_backward(py, &given, eps)
    }

    /// Says how many rows `partial` has for so many rows of `x`.
    #[pyfunction]
    fn parts(rows: usize) -> usize {
        norm::parts(rows)
    }

    /// Writes what a layer makes of each row of `x`.
    #[pyfunction]
    fn linear<'py>(
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        weight: &Bound<'py, PyAny>,
        bias: Option<&Bound<'py, PyAny>>,
        out: &Bound<'py, PyAny>,
        activation: Option<&str>,
    ) -> PyResult<bool> {
        layer::linear(py, x, weight, bias, out, activation)
    }

    /// Writes those of both gradients of a layer for which there is an array.
    #[pyfunction]
    fn linear_backward<'py>(
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        weight: &Bound<'py, PyAny>,
        gradient: &Bound<'py, PyAny>,
        x_gradient: Option<&Bound<'py, PyAny>>,
        weight_gradient: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<bool> {
        layer::linear_backward(py, &layer::Gradients { x, weight, gradient, x_gradient, weight_gradient })
    }

    /// Says whether the extension was built with kernels for GPUs.
    #[pyfunction]
    fn has_gpu_kernels() -> bool {
        cfg!(not(without_gpu_kernels))
    }
}
