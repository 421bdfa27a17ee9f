//! What is asked of PyTorch, where the program has loaded it.
//!
//! That a handle of a stream, a device's number and an exported tensor are what they are called is
//! PyTorch's promise: all of them come from it, and none from the caller.

use std::ffi::c_void;
use std::ptr;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyCapsule, PyModule};

use crate::capsule::Taken;

/// The module, if the program has loaded it: it is not loaded because of this.
fn loaded(py: Python<'_>) -> PyResult<Option<&Bound<'_, PyModule>>> {
    static TORCH: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    if let Some(torch) = TORCH.get(py) {
        return Ok(Some(torch.bind(py)));
    }
    let modules = py.import("sys")?.getattr("modules")?;
    let Ok(torch) = modules.get_item("torch") else {
        return Ok(None);
    };
    // Without the type it is not loaded to its end.
    match torch.cast_into::<PyModule>() {
        Ok(torch) if torch.hasattr("Tensor")? => Ok(Some(TORCH.get_or_init(py, || torch.unbind()).bind(py))),
        _ => Ok(None),
    }
}

/// Says whether this is a tensor of PyTorch's.
pub fn is_tensor(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    match loaded(object.py())? {
        Some(torch) => object.is_instance(&torch.getattr("Tensor")?),
        None => Ok(false),
    }
}

/// Takes a tensor's memory, which stays until the result is dropped. What is computed of it has no
/// gradient: who calls this answers for that.
///
/// # Errors
///
/// `ValueError` for a tensor that stands for the negative of its memory; what PyTorch says of one
/// that has no memory.
pub fn export(name: &str, tensor: &Bound<'_, PyAny>) -> PyResult<Taken> {
    let Some(torch) = loaded(tensor.py())? else {
        return Err(PyRuntimeError::new_err("PyTorch is gone"));
    };
    if tensor.call_method0("is_neg")?.is_truthy()? {
        return Err(PyValueError::new_err(format!(
            "{name}: it is a view of the negative of its memory; pass `{name}.resolve_neg()`"
        )));
    }
    let detached = match tensor.getattr("requires_grad")?.is_truthy()? {
        true => tensor.call_method0("detach")?,
        false => tensor.clone(),
    };
    let capsule = torch.getattr("utils")?.getattr("dlpack")?.call_method1("to_dlpack", (detached,))?;
    Taken::from_capsule(name, &capsule.cast_into::<PyCapsule>()?)
}

/// PyTorch's current stream of a GPU. As long as this is there, calls of the driver may make that
/// GPU the thread's; afterwards the thread has the one that it had.
pub struct CurrentStream<'py> {
    cuda: Bound<'py, PyAny>,
    stream: Bound<'py, PyAny>,
    gpu: u32,
    gpu_before: u32,
}

impl<'py> CurrentStream<'py> {
    /// Finds it.
    ///
    /// # Errors
    ///
    /// What PyTorch says, of a build without CUDA for example.
    pub fn of(py: Python<'py>, gpu: u32) -> PyResult<CurrentStream<'py>> {
        let Some(torch) = loaded(py)? else {
            return Err(PyRuntimeError::new_err("PyTorch is gone"));
        };
        let cuda = torch.getattr("cuda")?;
        let gpu_before = cuda.call_method0("current_device")?.extract()?;
        let stream = cuda.call_method1("current_stream", (gpu,))?;
        Ok(CurrentStream { cuda, stream, gpu, gpu_before })
    }

    /// Its `cudaStream_t`; null is the default stream.
    pub fn handle(&self) -> PyResult<*mut c_void> {
        Ok(ptr::with_exposed_provenance_mut(self.stream.getattr("cuda_stream")?.extract()?))
    }

    /// Keeps a tensor's memory from other uses until what is put into the stream from now on is
    /// done, whichever stream the tensor was allocated in and whenever it is dropped.
    pub fn keep(&self, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
        tensor.call_method1("record_stream", (&self.stream,)).map(drop)
    }
}

impl Drop for CurrentStream<'_> {
    fn drop(&mut self) {
        if self.gpu != self.gpu_before {
            // A GPU that was the thread's before can be it again; if not, the next call says so.
            let _ = self.cuda.call_method1("set_device", (self.gpu_before,));
        }
    }
}
