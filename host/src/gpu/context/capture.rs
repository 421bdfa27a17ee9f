//! What a thread may do while somebody captures a stream into a graph.

use std::ffi::c_int;

use crate::error::Error;
use crate::gpu::driver::{Driver, Status};

/// `CU_STREAM_CAPTURE_MODE_RELAXED`: nothing is forbidden.
const RELAXED: c_int = 2;

/// The calling thread's right to allocate, to load modules and to wait, although a stream is being
/// captured, by this thread or by another one. Without it the driver refuses such a call and ends
/// the capture. Nothing that this crate does meanwhile is of a captured stream.
#[must_use = "the right ends when this is dropped"]
pub(in crate::gpu) struct Relaxed {
    driver: &'static Driver,
    before: c_int,
}

impl Relaxed {
    /// Takes the right.
    pub(super) fn enter(driver: &'static Driver) -> Result<Relaxed, Error> {
        let mut before = RELAXED;
        // SAFETY: reads and writes one integer, which is there.
        match unsafe { driver.exchange_capture_mode(&mut before) } {
            Status::SUCCESS => Ok(Relaxed { driver, before }),
            status => Err(driver.error("ask what may be done during a capture", status)),
        }
    }
}

impl Drop for Relaxed {
    fn drop(&mut self) {
        // SAFETY: reads and writes one integer, which is there.
        let _ = unsafe { self.driver.exchange_capture_mode(&mut self.before) };
    }
}
