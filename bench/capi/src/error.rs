//! What a failed call leaves to be asked for: a text for each thread.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::mem;
use std::panic::{self, AssertUnwindSafe};

use anyhow::{Result, anyhow};

thread_local! {
    /// Why the thread's last failed call failed.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Returns the calling thread's text, which lasts until the next one is kept.
pub fn text() -> *const c_char {
    // A thread that is ending has no text any more.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Does what a call is for. If that fails or panics, keeps why, and returns `failed`.
///
/// A panic may stop the work anywhere. What it can have changed is the host crate's, which is
/// behind locks and whole at each of them, and which goes on after a panic of another thread.
pub fn guarded<R>(failed: R, work: impl FnOnce() -> Result<R>) -> R {
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    let error = match outcome {
        Ok(Ok(result)) => return result,
        Ok(Err(error)) => error,
        Err(payload) => anyhow!("a panic in tilepipe's library, which is a fault of its own: {}", message(payload)),
    };
    keep(&format!("{error:#}"));
    failed
}

/// Keeps a text for the calling thread.
fn keep(text: &str) {
    // Without zeros, which would end it too early, this cannot fail.
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // A thread that is ending keeps none.
    let _ = LAST.try_with(|last| last.replace(text));
}

/// Returns what a panic says.
fn message(payload: Box<dyn Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    // Its destructor might panic.
    mem::forget(payload);
    text.unwrap_or_else(|| "it has no text".to_owned())
}
