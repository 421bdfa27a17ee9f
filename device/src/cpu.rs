//! The CPU executor's entry: one block of a kernel on the calling thread. (Not on the GPU.)

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

pub use crate::isa::host::Schedule;
use crate::isa::host::{block, panics};
use crate::launch::{Instance, RawParameter};

/// A panic inside a kernel on the CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelPanic {
    /// The panic's message.
    pub message: String,
    /// The source file.
    pub file: String,
    /// The line in that file, from 1.
    pub line: u32,
    /// The column in that line, from 1.
    pub column: u32,
    /// The block's index in the grid.
    pub block: u32,
    /// The rank of the thread, if the panic happened inside a per-thread closure.
    pub thread: Option<u32>,
}

/// Runs block `block` of a grid of `grid` blocks on the calling thread, to its end.
///
/// Shared memory is an arena that the calling OS thread keeps from block to block. A block that is
/// partitioned into roles runs each of them on an OS thread of its own, one at a time, while the
/// calling one waits.
///
/// # Errors
///
/// The kernel's panic, if it panics. Nothing is printed for it.
///
/// # Panics
///
/// If the instance has no code for the CPU ([`Instance::runs_on_cpu`]).
///
/// # Safety
///
/// `parameters` match `instance.parameters()` in order: every input holds address and sizes of
/// memory that nobody writes during the call, every output those of memory that no other launch and
/// no two blocks of the same index touch, each aligned as its
/// [`ParameterInfo`](crate::launch::ParameterInfo) says; a value holds its bytes.
pub unsafe fn run_block(
    instance: &Instance,
    parameters: &[RawParameter],
    grid: u32,
    block: u32,
    schedule: Schedule,
) -> Result<(), KernelPanic> {
    let Some(kernel) = instance.cpu() else { panic!("{} was compiled without code for the CPU", instance.name()) };
    // SAFETY: the caller's promises, and the block's context is in place when this runs.
    let body = || unsafe { kernel(parameters) };
    run_body(body, instance.shared_bytes(), grid, block, schedule)
}

/// Runs `body` as block `block` of a grid of `grid` blocks with `shared_bytes` of shared memory.
pub(crate) fn run_body(
    body: impl FnOnce(),
    shared_bytes: usize,
    grid: u32,
    block: u32,
    schedule: Schedule,
) -> Result<(), KernelPanic> {
    if thread::panicking() {
        // Steps of an unwinding block are refused, and here they could not be distinguished from
        // other steps.
        let message = "a kernel can't run in a destructor while its OS thread unwinds".to_owned();
        return Err(KernelPanic { message, file: String::new(), line: 0, column: 0, block, thread: None });
    }
    panics::install_hook();
    let running = block::begin(block, grid, shared_bytes, schedule);
    let body = || {
        body();
        running.end();
    };
    let outcome = catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let place = panics::take_place().unwrap_or_default();
        let message = message_of(payload.as_ref());
        panics::drop_payload(payload);
        KernelPanic { message, file: place.file, line: place.line, column: place.column, block, thread: place.thread }
    });
    drop(running);
    outcome
}

/// Whether a block runs on the calling OS thread, or that thread was made for one of its roles.
pub fn in_kernel() -> bool {
    block::is_inside()
}

/// Prepares the process to run kernels. A launcher calls it before it hands blocks to other OS
/// threads. Returns whether it is ready: the first time it is not if the calling thread panics,
/// whose panic hook may be running and can't be replaced then.
pub fn prepare() -> bool {
    panics::prepare()
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "a panic without a message".to_owned()
    }
}
