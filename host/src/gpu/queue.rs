//! Streams of a GPU.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cudarc::driver::sys::CUstream;
use tilepipe::launch::Instance;

use super::context::{Context, Keep, NON_BLOCKING};
use super::driver::Status;
use super::event::GpuEvent;
use super::point::Points;
use crate::error::Error;

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
    points: Option<&'a Points>,
    is_shared: bool,
    may_be_captured: bool,
}

impl<'a> Lane<'a> {
    /// The stream of the context's uploads, downloads and fills.
    pub(super) fn transfer(context: &'a Arc<Context>) -> Self {
        Lane {
            context,
            raw: context.transfer,
            number: TRANSFER,
            points: None,
            is_shared: false,
            may_be_captured: false,
        }
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

    /// The points of a [`GpuStream`]'s work; the transfer stream's work has an event each.
    pub(super) fn points(&self) -> Option<&'a Points> {
        self.points
    }

    /// Says whether somebody else puts work into the stream too.
    pub(super) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Says whether work that uses no memory of this crate's may go into a graph: whoever owns the
    /// rest of the memory answers for it.
    pub(super) fn may_be_captured(&self) -> bool {
        self.may_be_captured
    }

    /// Fails if work that is put into the stream now goes into a graph, whose owner could run it at
    /// any time. Only somebody else can have begun that. The context is the calling thread's.
    ///
    /// # Errors
    ///
    /// [`Error::Captured`].
    pub(super) fn refuse_capture(&self) -> Result<(), Error> {
        if !self.is_shared {
            return Ok(());
        }
        // SAFETY: the stream is alive (invariant 0).
        unsafe { refuse_capture(self.context, self.raw) }
    }
}

/// What a launch knows of captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Captures {
    /// Nothing.
    Unknown,
    /// That its streams were not being captured a moment ago. The context is the calling thread's.
    #[cfg_attr(not(feature = "cudarc"), expect(dead_code, reason = "the feature `cudarc` asks"))]
    Refused,
}

/// `CU_STREAM_PER_THREAD`: a handle that means another stream in each thread.
pub(crate) const PER_THREAD: usize = 2;

/// Fails if a handle means another stream in each thread.
///
/// # Errors
///
/// [`Error::PerThreadStream`].
pub(crate) fn refuse_per_thread(stream: CUstream) -> Result<(), Error> {
    if stream.addr() == PER_THREAD { Err(Error::PerThreadStream) } else { Ok(()) }
}

/// Fails if a stream is being captured, or cannot say whether it is.
///
/// # Safety
///
/// 0. `stream` is an alive stream of the context, which is the calling thread's.
pub(super) unsafe fn refuse_capture(context: &Context, stream: CUstream) -> Result<(), Error> {
    /// `CU_STREAM_CAPTURE_STATUS_NONE`.
    const RUNS: i32 = 0;
    let mut status = RUNS;
    // SAFETY: writes one integer, which is there; the stream is alive (obligation 0).
    match unsafe { context.driver.stream_is_capturing(stream, &mut status) } {
        Status::SUCCESS if status == RUNS => Ok(()),
        // The legacy default stream, while a stream that waits for it is being captured.
        Status::SUCCESS | Status::STREAM_CAPTURE_IMPLICIT => Err(Error::Captured),
        failed => context.check("ask whether a stream is being captured", failed),
    }
}

/// A stream of one context.
///
/// # Invariants
///
/// 0. `raw` is a stream of `context`, until `Drop`.
/// 1. Work is put into it by [`submit`](super::memory::submit) alone, unless `keep` is there: then
///    somebody else puts work into it too, each point is closed in the turn in which it was opened,
///    and the stream is alive as long as `keep`.
pub(crate) struct GpuStream {
    pub(crate) context: Arc<Context>,
    raw: CUstream,
    number: u64,
    points: Points,
    keep: Option<Keep>,
    may_be_captured: bool,
}

// SAFETY: the driver API may be called from any thread with a stream's handle.
unsafe impl Send for GpuStream {}
// SAFETY: as for `Send`; the points are used in turns alone (`InTurn`).
unsafe impl Sync for GpuStream {}

impl GpuStream {
    /// Creates a stream that is ordered with no other.
    pub(crate) fn new(context: &Arc<Context>) -> Result<GpuStream, Error> {
        context.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: writes one handle, which is there; the context is this thread's.
        let status = unsafe { context.driver.stream_create(&mut raw, NON_BLOCKING) };
        context.check("create a stream", status)?;
        Ok(GpuStream::of(context, raw, None))
    }

    /// Takes a stream of somebody else's, who goes on to use it.
    ///
    /// # Safety
    ///
    /// 0. `raw` is a stream of the context, the same one for every thread, and alive as long as
    ///    `keep`.
    #[cfg(any(feature = "cudarc", test))]
    pub(crate) unsafe fn kept(context: &Arc<Context>, raw: CUstream, keep: Keep) -> GpuStream {
        GpuStream::of(context, raw, Some(keep))
    }

    /// Takes a stream of somebody else's, who goes on to use it, and may capture it into a graph.
    ///
    /// # Safety
    ///
    /// 0. `raw` is a stream of the context or null for its default one, the same one for every
    ///    thread, and alive as long as this value.
    /// 1. The context gives back nothing that graphs need ([`Context::is_for_good`]). Memory of
    ///    others that a launch in it uses stays for each replay of a graph that captured the
    ///    launch.
    pub(crate) unsafe fn capturable(context: &Arc<Context>, raw: CUstream) -> GpuStream {
        let mut stream = GpuStream::of(context, raw, Some(Arc::new(())));
        stream.may_be_captured = true;
        stream
    }

    /// Fails if the stream is being captured and a launch of this instance would ask the driver for
    /// more than to start it.
    ///
    /// # Errors
    ///
    /// [`Error::CapturedFirst`].
    pub(crate) fn refuse_first_in_capture(&self, instance: &Instance) -> Result<(), Error> {
        if !self.may_be_captured || self.context.has_ready(instance) {
            return Ok(());
        }
        self.context.enter()?;
        self.lane().refuse_capture().map_err(|error| match error {
            Error::Captured => Error::CapturedFirst { kernel: instance.kernel() },
            other => other,
        })
    }

    fn of(context: &Arc<Context>, raw: CUstream, keep: Option<Keep>) -> GpuStream {
        static NUMBERS: AtomicU64 = AtomicU64::new(TRANSFER + 1);
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let points = Points::none(context);
        GpuStream { context: Arc::clone(context), raw, number, points, keep, may_be_captured: false }
    }

    /// What keeps the stream alive, if it is somebody else's.
    #[cfg(feature = "cudarc")]
    pub(crate) fn keep(&self) -> Option<&Keep> {
        self.keep.as_ref()
    }

    /// Returns the stream as a place for work.
    pub(super) fn lane(&self) -> Lane<'_> {
        Lane {
            context: &self.context,
            raw: self.raw,
            number: self.number,
            points: Some(&self.points),
            is_shared: self.keep.is_some(),
            may_be_captured: self.may_be_captured,
        }
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
        let event = GpuEvent::timed(&self.context)?;
        self.lane().refuse_capture()?;
        // SAFETY: the stream is alive (invariant 0), and of the event's context.
        unsafe { event.record(self.raw) }?;
        Ok(event)
    }
}

impl Drop for GpuStream {
    fn drop(&mut self) {
        if self.keep.is_some() {
            // All points are closed (invariant 1), and the stream is its owner's.
            return;
        }
        let turn = self.context.turn();
        if self.context.enter().is_err() {
            return;
        }
        // An error means that the work is over, or that the device is lost, and the stream stays.
        let _ = self.points.take(&turn).end(&self.context, &turn);
        if !self.context.is_lost() {
            // SAFETY: the stream is alive, and this is its last use: its last point was closed. Its
            // work goes on to its end.
            let _ = unsafe { self.context.driver.stream_destroy(self.raw) };
        }
    }
}
