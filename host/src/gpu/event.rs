//! Events of a GPU: points in the work of a stream.

use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUevent, CUstream};

use super::context::Context;
use super::driver::Status;
use crate::error::Error;

/// `CU_EVENT_DEFAULT`: with its time.
const TIMED: u32 = 0;
/// `CU_EVENT_DISABLE_TIMING`: for order alone, cheaper.
const UNTIMED: u32 = 2;

/// An event of one context.
///
/// # Invariants
///
/// 0. `raw` is an event of `context`, until `Drop`.
pub(crate) struct GpuEvent {
    pub(crate) context: Arc<Context>,
    raw: CUevent,
}

// SAFETY: the driver API may be called from any thread with an event's handle.
unsafe impl Send for GpuEvent {}
// SAFETY: as for `Send`; there is no state beside the handle.
unsafe impl Sync for GpuEvent {}

impl GpuEvent {
    /// Creates an event with its time.
    pub(super) fn timed(context: &Arc<Context>) -> Result<GpuEvent, Error> {
        GpuEvent::new(context, TIMED)
    }

    /// Creates an event that only orders.
    pub(super) fn untimed(context: &Arc<Context>) -> Result<GpuEvent, Error> {
        GpuEvent::new(context, UNTIMED)
    }

    fn new(context: &Arc<Context>, flags: u32) -> Result<GpuEvent, Error> {
        context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle, which is there; the context is this thread's.
        let status = unsafe { context.driver.event_create(&mut raw, flags) };
        context.check("create an event", status)?;
        Ok(GpuEvent { context: Arc::clone(context), raw })
    }

    /// Records the event at the end of a stream. The context is the calling thread's.
    ///
    /// # Safety
    ///
    /// 0. `stream` is an alive stream of the event's context.
    pub(super) unsafe fn record(&self, stream: CUstream) -> Result<(), Error> {
        // SAFETY: the event is alive (invariant 0), and so is the stream (obligation 0).
        let status = unsafe { self.context.driver.event_record(self.raw, stream) };
        self.context.check("record an event", status)
    }

    /// Makes what follows in a stream wait for the event. The context is the calling thread's.
    ///
    /// # Safety
    ///
    /// 0. As for [`record`](Self::record).
    pub(super) unsafe fn hold_back(&self, stream: CUstream) -> Result<(), Error> {
        // SAFETY: the event is alive (invariant 0), and so is the stream (obligation 0).
        let status = unsafe { self.context.driver.stream_wait_event(stream, self.raw, 0) };
        self.context.check("order two streams", status)
    }

    /// Says whether the event has been reached; an error counts as not.
    pub(super) fn is_reached(&self) -> bool {
        // SAFETY: the event is alive (invariant 0).
        let status = unsafe { self.context.driver.event_query(self.raw) };
        status == Status::SUCCESS
    }

    /// Waits for the event.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the event is alive (invariant 0).
        let status = unsafe { self.context.driver.event_synchronize(self.raw) };
        self.context.check("wait for an event", status)
    }

    /// Waits for the event and returns the milliseconds since `earlier`, an event of the same
    /// context.
    pub(crate) fn elapsed_ms_since(&self, earlier: &GpuEvent) -> Result<f64, Error> {
        earlier.synchronize()?;
        self.synchronize()?;
        let mut milliseconds = 0.0;
        // SAFETY: writes one number, which is there; both events are alive (invariant 0).
        let status = unsafe { self.context.driver.event_elapsed(&mut milliseconds, earlier.raw, self.raw) };
        self.context.check("measure the time between two events", status)?;
        Ok(f64::from(milliseconds))
    }
}

impl Drop for GpuEvent {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the event is alive, and this is its last use.
            let _ = unsafe { self.context.driver.event_destroy(self.raw) };
        }
    }
}
