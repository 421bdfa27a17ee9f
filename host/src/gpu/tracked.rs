//! Memory that somebody else's events order.
//!
//! Its owner keeps an event for it, waits for that event before later work and before the memory is
//! freed, and records it anew after each use. A launch does as the owner does.

use cudarc::driver::sys::{CUevent, CUstream};

use super::driver::Status;
use super::event::GpuEvent;
use super::queue::{GpuStream, refuse_capture};
use crate::error::Error;

/// How a launch uses memory of somebody else's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tracked {
    /// The owner's event for uses of this kind; null if its stream alone orders them.
    pub(crate) event: CUevent,
    /// Whether its owner makes the launch's stream wait for the event.
    pub(crate) is_awaited: bool,
    /// The stream in whose order the memory is freed.
    pub(crate) home: CUstream,
}

impl GpuStream {
    /// Fails if the stream, or one in which memory of the launch is freed, is being captured. The
    /// context is the calling thread's then.
    ///
    /// # Safety
    ///
    /// 0. The streams are alive, and of this stream's context or null for its default one.
    ///
    /// # Errors
    ///
    /// [`Error::Captured`].
    pub(crate) unsafe fn refuse_captures(&self, homes: impl Iterator<Item = CUstream>) -> Result<(), Error> {
        self.context.enter()?;
        let own = self.lane().raw();
        self.lane().refuse_capture()?;
        for home in homes.filter(|home| *home != own) {
            // SAFETY: obligation 0.
            unsafe { refuse_capture(&self.context, home) }?;
        }
        Ok(())
    }

    /// Makes what follows in the stream come after what is in the homes, among it the allocation of
    /// memory that nobody has written yet, and after what the events stand for, which recording
    /// them anew makes them forget: the last read alone has one, in whatever stream.
    ///
    /// # Safety
    ///
    /// 0. Events and streams are alive, and of this stream's context, which is the calling
    ///    thread's.
    pub(crate) unsafe fn come_after(&self, uses: &[Tracked]) -> Result<(), Error> {
        let own = self.lane().raw();
        for (place, tracked) in uses.iter().enumerate() {
            let is_known = uses[..place].iter().any(|before| before.home == tracked.home);
            if tracked.home != own && !is_known {
                let end = GpuEvent::untimed(&self.context)?;
                // SAFETY: the stream is alive, and of the event's context (obligation 0).
                unsafe { end.record(tracked.home) }?;
                // SAFETY: the stream is alive (invariant 0 of `GpuStream`).
                unsafe { end.hold_back(own) }?;
            }
        }
        for tracked in uses.iter().filter(|tracked| !tracked.event.is_null() && !tracked.is_awaited) {
            // SAFETY: the stream is alive (invariant 0 of `GpuStream`), the event by obligation 0.
            let status = unsafe { self.context.driver.stream_wait_event(own, tracked.event, 0) };
            self.context.check("order a stream after earlier uses of memory of cudarc's", status)?;
        }
        Ok(())
    }

    /// Makes the events stand for the end of the stream, so that their owner waits for a launch
    /// that was just put there. Where that fails, waits for the launch.
    ///
    /// # Safety
    ///
    /// 0. As for [`come_after`](Self::come_after).
    pub(crate) unsafe fn leave_events(&self, uses: &[Tracked]) -> Result<(), Error> {
        // SAFETY: obligation 0.
        let left = unsafe { self.record_all(uses) };
        if left.is_err() {
            // Nobody would wait for the launch: wait here, or give the device up.
            // SAFETY: the stream is alive (invariant 0 of `GpuStream`).
            let status = unsafe { self.context.driver.stream_synchronize(self.lane().raw()) };
            self.context.check("wait for a stream", status).map_err(|error| self.context.lose(error))?;
        }
        left
    }

    /// Records each event at the end of the stream.
    ///
    /// # Safety
    ///
    /// 0. As for [`come_after`](Self::come_after).
    unsafe fn record_all(&self, uses: &[Tracked]) -> Result<(), Error> {
        let (driver, own) = (self.context.driver, self.lane().raw());
        for tracked in uses.iter().filter(|tracked| !tracked.event.is_null()) {
            // SAFETY: the stream is alive (invariant 0 of `GpuStream`), the event by obligation 0.
            let mut status = unsafe { driver.event_record(tracked.event, own) };
            // The memory is freed in its home's order. The owner would wait for the event before,
            // but a later read of its, in a third stream, replaces ours there without a wait.
            if status == Status::SUCCESS && tracked.home != own {
                // SAFETY: both are alive by obligation 0.
                status = unsafe { driver.stream_wait_event(tracked.home, tracked.event, 0) };
            }
            self.context.check("record a use of memory of cudarc's", status)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
