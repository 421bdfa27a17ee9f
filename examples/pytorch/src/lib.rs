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

    use crate::operators::{attention as heads, layer, norm};

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

    /// Writes attention, and the logarithms of the sums of its weights.
    #[pyfunction]
    #[allow(clippy::too_many_arguments, reason = "as many as there are arrays")]
    fn attention<'py>(
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        k: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
        logarithms: &Bound<'py, PyAny>,
        before: Option<usize>,
        behind: Option<usize>,
        scale: Option<f32>,
    ) -> PyResult<bool> {
        heads::attention(py, &heads::Given { q, k, v }, out, logarithms, heads::Options { before, behind, scale })
    }

    /// Writes the gradients of `q`, `k` and `v`.
    #[pyfunction]
    #[allow(clippy::too_many_arguments, reason = "as many as there are arrays")]
    fn attention_backward<'py>(
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        k: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
        logarithms: &Bound<'py, PyAny>,
        gradient: &Bound<'py, PyAny>,
        q_gradient: &Bound<'py, PyAny>,
        k_gradient: &Bound<'py, PyAny>,
        v_gradient: &Bound<'py, PyAny>,
        room: &Bound<'py, PyAny>,
        before: Option<usize>,
        behind: Option<usize>,
        scale: Option<f32>,
    ) -> PyResult<bool> {
        let more = heads::Gradients { out, logarithms, gradient, q_gradient, k_gradient, v_gradient, room };
        heads::attention_backward(py, &heads::Given { q, k, v }, &more, heads::Options { before, behind, scale })
    }

    /// Says whether the extension was built with kernels for GPUs.
    #[pyfunction]
    fn has_gpu_kernels() -> bool {
        cfg!(not(without_gpu_kernels))
    }
}
