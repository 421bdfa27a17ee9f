//! The CPU executor's entry: one block of a kernel on the calling thread. (Not on the GPU.)

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;

use crate::isa::host::block;
use crate::launch::{Instance, RawParameter};

/// When an asynchronous copy lands in the model of the CPU backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Schedule {
    /// As soon as it is issued.
    Eager,
    /// As late as the waits and barriers allow.
    #[default]
    Lazy,
    /// At any allowed moment, drawn from this seed and the block's index.
    Random {
        /// The seed; the same seed gives the same order.
        seed: u64,
    },
}

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
/// `parameters` match `instance.parameters()` in order: every input's words are the address and
/// length of memory that nobody writes during the call, every output's those of memory that no
/// other launch and no two blocks of the same index touch, each aligned as its
/// [`ParameterInfo`](crate::launch::ParameterInfo) says; a scalar's are its bytes.
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
        // Steps of an unwinding block are refused, and here they could not be told from others.
        let message = "a kernel can't run in a destructor while its OS thread unwinds".to_owned();
        return Err(KernelPanic { message, file: String::new(), line: 0, column: 0, block, thread: None });
    }
    install_panic_hook();
    let running = block::begin(block, grid, shared_bytes, schedule);
    let outcome = catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let place = take_place().unwrap_or_default();
        let message = message_of(payload.as_ref());
        drop_payload(payload);
        KernelPanic { message, file: place.file, line: place.line, column: place.column, block, thread: place.thread }
    });
    drop(running);
    outcome
}

/// Whether a block runs on the calling OS thread, or that thread was made for one of its roles.
pub fn in_kernel() -> bool {
    block::is_inside()
}

/// Readies the process to run kernels: for a launcher, before it hands blocks to other OS threads.
/// Returns whether it is ready: the first time it is not if the calling thread panics, whose panic
/// hook may be running and can't be replaced then.
pub fn prepare() -> bool {
    if !HOOK.is_completed() && thread::panicking() {
        return false;
    }
    install_panic_hook();
    true
}

static HOOK: Once = Once::new();

/// Drops a panic's payload, whose destructor may panic in turn.
pub(crate) fn drop_payload(payload: Box<dyn Any + Send>) {
    if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        // Its destructor may panic as well, so it is leaked.
        std::mem::forget(another);
    }
}

/// Where a kernel panicked.
#[derive(Default)]
pub(crate) struct Place {
    file: String,
    line: u32,
    column: u32,
    thread: Option<u32>,
}

thread_local! {
    static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
    /// Whether the next panic goes to the hook that was there before, instead of being noted.
    static ALOUD: Cell<bool> = const { Cell::new(false) };
}

/// Panics, with the message on standard error, and leaves the place of the panic that is under way
/// as it is.
#[cold]
pub(crate) fn panic_aloud(message: &'static str) -> ! {
    ALOUD.set(true);
    panic!("{message}");
}

/// Takes the place of the panic that this OS thread noted last.
pub(crate) fn take_place() -> Option<Place> {
    PLACE.take()
}

/// Notes the place of a panic of another OS thread, that of a role, which this one resumes.
pub(crate) fn note_place(place: Option<Place>) {
    PLACE.set(place);
}

/// Has panics inside kernels note their place instead of printing it; all others go on to the hook
/// that was there.
fn install_panic_hook() {
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !block::is_running() || ALOUD.take() {
                return previous(info);
            }
            let location = info.location();
            PLACE.set(Some(Place {
                file: location.map(|place| place.file().to_owned()).unwrap_or_default(),
                line: location.map_or(0, |place| place.line()),
                column: location.map_or(0, |place| place.column()),
                thread: block::current_thread(),
            }));
        }));
    });
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
