//! What is loaded into an opened GPU.

use std::collections::HashMap;

use cudarc::driver::sys::{CUfunction, CUmodule};
use tilepipe::launch::{Contract, Instance};

/// What is loaded into the context.
///
/// # Invariants
///
/// 0. The `raw` of each image and of each function live as long as the [`Context`](super::context),
///    which unloads none before its `Drop`.
#[derive(Default)]
pub(super) struct Modules {
    pub(super) images: Vec<LoadedImage>,
    /// The entries that there are, by their symbols: the place of the image loaded last that has
    /// each.
    pub(super) entries: HashMap<String, usize>,
    /// The entries that were launched, by their symbols.
    pub(super) functions: HashMap<&'static str, Function>,
    /// What the kernels of images need that have nothing for this GPU, by the kernels' symbols.
    pub(super) missing: HashMap<String, String>,
}

/// An image in the context.
pub(super) struct LoadedImage {
    pub(super) raw: CUmodule,
    /// The PTX it came from: loading it again has no effect, and the driver is asked for nothing
    /// that is not in it. It would say no as well, but tools such as compute-sanitizer report that.
    pub(super) ptx: String,
}

// SAFETY: the driver API may be called from any thread with these handles.
unsafe impl Send for Modules {}

/// An entry of a module, with what the driver says about it.
#[derive(Clone, Copy)]
pub(super) struct Function {
    pub(super) raw: CUfunction,
    /// The place of the image that has it.
    pub(super) image: usize,
    pub(super) static_shared: usize,
    pub(super) threads_limit: u32,
    /// Dynamic shared memory opted in to.
    pub(super) opted_in: usize,
    /// The contract that the entry was found to have, if it was asked for.
    pub(super) contract: Option<Contract>,
    /// Bytes of dynamic shared memory of its collectives, after those of the instance.
    pub(super) scratch: usize,
}

impl Function {
    /// The bytes of dynamic shared memory of a launch: those of the instance and, from a multiple
    /// of 16 on, those of its collectives.
    pub(super) fn dynamic_shared(&self, instance: &Instance) -> usize {
        match self.scratch {
            0 => instance.shared_bytes(),
            scratch => instance.shared_bytes().next_multiple_of(16).saturating_add(scratch),
        }
    }
}
