//! What `ptxas` says of the kernels: the figures of each, and its messages.

pub(crate) mod warnings;

use serde::{Deserialize, Serialize};

/// What one kernel uses on one architecture, as `ptxas` reports it.
///
/// It is an object of the list in `report.json`, with these fields' names. Later versions may have
/// more of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KernelReport {
    /// The kernel's symbol.
    pub kernel: String,
    /// The architecture, such as `sm_90`.
    pub arch: String,
    /// Threads a block, from the kernel's launch bounds.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Bytes stored to local memory because registers ran out.
    pub spill_stores: u32,
    /// Bytes loaded from local memory because registers ran out.
    pub spill_loads: u32,
    /// Bytes of each thread's stack in local memory, of the kernel itself.
    pub stack_frame: u32,
    /// The same with the functions that the kernel calls, as far as `ptxas` says.
    #[serde(default)]
    pub stack: u32,
    /// The functions that were not inlined and use local memory. The kernel may call them, perhaps
    /// only when it panics: `ptxas` counts those too whose address alone is taken.
    #[serde(default)]
    pub functions: Vec<FunctionReport>,
    /// Bytes of static shared memory of each block.
    pub shared_bytes: u32,
    /// Bytes of dynamic shared memory that a launch reserves for each block: those of `Shared`, and
    /// of the collectives. 0 for a kernel that `#[kernel]` did not make, which says nothing of it.
    #[serde(default)]
    pub dynamic_shared: u32,
    /// Bytes of constant memory, the arguments included.
    pub constant_bytes: u32,
    /// Hardware barriers of each block.
    pub barriers: u32,
}

/// What a function that was not inlined uses where one kernel may call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FunctionReport {
    /// The function's path in Rust.
    pub function: String,
    /// Bytes of each thread's stack in local memory.
    pub stack_frame: u32,
    /// Bytes stored to local memory because registers ran out, or to keep those of the caller.
    pub spill_stores: u32,
    /// Bytes loaded from local memory for the same reasons.
    pub spill_loads: u32,
}

/// Something that `ptxas` says beside the figures of a [`KernelReport`].
///
/// It is an object of the list in `messages.json`, with these fields' names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PtxasMessage {
    /// The symbol of the kernel that it is about; none if that does not follow from it.
    pub kernel: Option<String>,
    /// The image that it is about, which has the name of its kernel function.
    pub image: String,
    /// The architecture, such as `sm_90a`.
    pub arch: String,
    /// The line, without what `ptxas` begins each line with.
    pub text: String,
}

impl PtxasMessage {
    /// Whether it says that products of the tensor cores are taken one by one, or that the
    /// registers of roles stay as they are. The codes vary, so the words count.
    pub(crate) fn spoils_products(&self) -> bool {
        ["wgmma", "setmaxnreg", "warpgroup.", "GMMA"].iter().any(|word| self.text.contains(word))
    }
}
