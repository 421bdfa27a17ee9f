//! Panics inside kernels: the place of each is noted, and nothing is printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::thread;

use super::block;

static HOOK: Once = Once::new();

/// Installs the hook, unless the calling thread panics: a hook that may be running can't be
/// replaced. Returns whether it is there.
pub(crate) fn prepare() -> bool {
    if !HOOK.is_completed() && thread::panicking() {
        return false;
    }
    install_hook();
    true
}

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
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// The rank of the thread, in a per-thread closure.
    pub thread: Option<u32>,
}

thread_local! {
    static PLACE: Cell<Option<Place>> = const { Cell::new(None) };
    /// Whether the next panic goes to the hook that was there before, instead of being noted.
    static ALOUD: Cell<bool> = const { Cell::new(false) };
}

/// Panics, with the message on standard error, and leaves the place of the panic in progress as it
/// is.
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
pub(crate) fn install_hook() {
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
