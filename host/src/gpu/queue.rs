//! Streams and events of a GPU.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::{CUevent, CUstream};

use super::context::{Context, NON_BLOCKING};
use super::driver::Status;
use crate::error::Error;

/// `CU_EVENT_DEFAULT`: with its time.
const TIMED: u32 = 0;
/// `CU_EVENT_DISABLE_TIMING`: for order alone, cheaper.
const UNTIMED: u32 = 2;

/// The number of the context's own transfer stream; [`GpuStream`]s count from 1.
const TRANSFER: u64 = 0;

/// A stream that work is put into: a [`GpuStream`] or the context's own.
///
/// # Invariants
///
/// 0. `raw` is a stream of `context` that lives as long as the borrow.
#[derive(Clone, Copy)]
pub(super) struct Lane<'a> {
    context: &'a Arc<Context>,
    raw: CUstream,
    number: u64,
}

impl<'a> Lane<'a> {
    /// The stream of the context's uploads, downloads and fills.
    pub(super) fn transfer(context: &'a Arc<Context>) -> Self {
        Lane { context, raw: context.transfer, number: TRANSFER }
    }

    pub(super) fn context(&self) -> &'a Arc<Context> {
        self.context
    }

    pub(super) fn raw(&self) -> CUstream {
        self.raw
    }

    /// Identifies the stream among all of the process.
    pub(super) fn number(&self) -> u64 {
        self.number
    }
}

/// A stream of one context.
///
/// # Invariants
///
/// 0. `raw` is a stream of `context`, until `Drop`.
pub(crate) struct GpuStream {
    pub(crate) context: Arc<Context>,
    raw: CUstream,
    number: u64,
}

// SAFETY: the driver API may be called from any thread with a stream's handle.
unsafe impl Send for GpuStream {}
// SAFETY: as for `Send`; there is no state beside the handle.
unsafe impl Sync for GpuStream {}

impl GpuStream {
    /// Creates a stream that is ordered with no other.
    pub(crate) fn new(context: &Arc<Context>) -> Result<GpuStream, Error> {
        static NUMBERS: AtomicU64 = AtomicU64::new(TRANSFER + 1);
        context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle, which is there; the context is this thread's.
        let status = unsafe { context.driver.stream_create(&mut raw, NON_BLOCKING) };
        context.check("create a stream", status)?;
        Ok(GpuStream { context: Arc::clone(context), raw, number: NUMBERS.fetch_add(1, Ordering::Relaxed) })
    }

    /// Returns the stream as a place for work.
    pub(super) fn lane(&self) -> Lane<'_> {
        Lane { context: &self.context, raw: self.raw, number: self.number }
    }

    /// Waits for the stream's work.
    pub(crate) fn synchronize(&self) -> Result<(), Error> {
        self.context.enter()?;
        // SAFETY: the stream is alive (invariant 0).
        let status = unsafe { self.context.driver.stream_synchronize(self.raw) };
        self.context.check("wait for a stream", status)
    }

    /// Records an event with a time at the stream's end.
    pub(crate) fn record(&self) -> Result<GpuEvent, Error> {
        let event = GpuEvent::new(&self.context, TIMED)?;
        event.record(self.lane())?;
        Ok(event)
    }
}

impl Drop for GpuStream {
    fn drop(&mut self) {
        if self.context.enter().is_ok() {
            // SAFETY: the stream is alive, and this is its last use; its work goes on to its end.
            let _ = unsafe { self.context.driver.stream_destroy(self.raw) };
        }
    }
}

/// An event of one context.
///
/// # Invariants
///
/// 0. `raw` is an event of `context`, until `Drop`.
pub(crate) struct GpuEvent {
    pub(crate) context: Arc<Context>,
    pub(super) raw: CUevent,
}

// SAFETY: the driver API may be called from any thread with an event's handle.
unsafe impl Send for GpuEvent {}
// SAFETY: as for `Send`; there is no state beside the handle.
unsafe impl Sync for GpuEvent {}

impl GpuEvent {
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

    /// Records the event at the end of a stream of the same context.
    pub(super) fn record(&self, lane: Lane<'_>) -> Result<(), Error> {
        // SAFETY: both are alive (their invariants 0).
        let status = unsafe { self.context.driver.event_record(self.raw, lane.raw) };
        self.context.check("record an event", status)
    }

    /// Makes what follows in a stream of the same context wait for the event.
    pub(super) fn hold_back(&self, lane: Lane<'_>) -> Result<(), Error> {
        // SAFETY: both are alive (their invariants 0).
        let status = unsafe { self.context.driver.stream_wait_event(lane.raw, self.raw, 0) };
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
