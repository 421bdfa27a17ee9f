//! The ends of pieces of work in a stream, for what has to come after them.
//!
//! An event for each launch costs more of the host's time than all checks together, and most are
//! never waited for. So the latest work of a stream has none: its end is where the stream ends. It
//! gets an event when something has to wait for it, or just before work is put into the stream
//! after which not all of its buffers would wait for the new work anyway. Nothing ever waits for
//! more than it would if each work had an event of its own.

use std::cell::RefMut;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::CUstream;

use super::context::Context;
use super::context::turn::{InTurn, Turn};
use super::event::GpuEvent;
use crate::error::Error;

/// The end of the point's work is where its stream ends.
const OPEN: u8 = 0;
/// The end of the point's work has an event.
const RECORDED: u8 = 1;
/// The point's work is over.
const OVER: u8 = 2;

/// How many of a stream's points are looked at for one that nothing needs any more.
const LOOKS: usize = 4;

/// The end of work in a stream.
///
/// # Invariants
///
/// 0. While the state is `OPEN`, `raw` is an alive stream of the context of all that has the point,
///    and the last work that this crate has put into it is the point's. (Into a stream of somebody
///    else's its owner and launches over no buffers put work at any time: it is waited for too.)
/// 1. `RECORDED`: the event was recorded in the stream after all of the point's work. `OVER`: that
///    work is over.
/// 2. The state of a point that others have changes from `OPEN` in somebody's turn alone, and from
///    `RECORDED` to `OVER` once the event was waited for.
pub(super) struct Point {
    stream: u64,
    raw: CUstream,
    state: AtomicU8,
    /// What [`close`](Self::close) records: kept when the point stands for other work later.
    event: OnceLock<GpuEvent>,
}

// SAFETY: the driver API may be called from any thread with a stream's handle.
unsafe impl Send for Point {}
// SAFETY: as for `Send`; the state is an atomic, and the event is written once.
unsafe impl Sync for Point {}

impl Point {
    /// Makes the point of work that is about to be put into a stream of this number.
    ///
    /// # Safety
    ///
    /// 0. `raw` is alive until the point is closed or its context fails, and other work is put into
    ///    it only after the point was closed, or as work of the point too.
    pub(super) unsafe fn open(stream: u64, raw: CUstream) -> Point {
        Point { stream, raw, state: AtomicU8::new(OPEN), event: OnceLock::new() }
    }

    /// The number of the work's stream.
    pub(super) fn stream(&self) -> u64 {
        self.stream
    }

    /// Makes the event that [`close`](Self::close) needs, where there is none yet.
    pub(super) fn prepare(&self, context: &Arc<Context>) -> Result<&GpuEvent, Error> {
        match self.event.get() {
            Some(event) => Ok(event),
            None => {
                let event = GpuEvent::untimed(context)?;
                Ok(self.event.get_or_init(|| event))
            }
        }
    }

    /// Records the event of an open point. The context is the calling thread's.
    ///
    /// # Errors
    ///
    /// No event, or one that cannot be recorded: the work is over then, or the device is lost.
    pub(super) fn close(&self, context: &Arc<Context>, _turn: &Turn<'_>) -> Result<(), Error> {
        if !self.is_open() {
            return Ok(());
        }
        // SAFETY: the stream is alive (invariant 0), and of the event's context.
        let recorded = self.prepare(context).and_then(|event| unsafe { event.record(self.raw) });
        if let Err(error) = recorded {
            // The work is under way and cannot be waited for by event: wait here, or give the
            // device up. SAFETY: the stream is alive (invariant 0).
            let status = unsafe { context.driver.stream_synchronize(self.raw) };
            context.check("wait for a stream", status).map_err(|error| context.lose(error))?;
            self.state.store(OVER, Ordering::Release);
            return Err(error);
        }
        self.state.store(RECORDED, Ordering::Release);
        Ok(())
    }

    /// Makes what follows in another stream of the context come after the point. The context is the
    /// calling thread's.
    ///
    /// # Safety
    ///
    /// 0. `stream` is an alive stream of the context.
    pub(super) unsafe fn hold_back(
        &self,
        stream: CUstream,
        context: &Arc<Context>,
        turn: &Turn<'_>,
    ) -> Result<(), Error> {
        self.close(context, turn)?;
        match self.recorded() {
            // SAFETY: passed on to the caller.
            Some(event) => unsafe { event.hold_back(stream) },
            None => Ok(()),
        }
    }

    /// Waits on the calling thread for the point.
    pub(super) fn synchronize(&self, context: &Arc<Context>) -> Result<(), Error> {
        if self.is_open() {
            let turn = context.turn();
            context.enter()?;
            self.close(context, &turn)?;
        }
        if let Some(event) = self.recorded() {
            event.synchronize()?;
            self.state.store(OVER, Ordering::Release);
        }
        Ok(())
    }

    /// Says whether the work has no event yet.
    fn is_open(&self) -> bool {
        self.state.load(Ordering::Acquire) == OPEN
    }

    /// Says whether the work is known to be over.
    pub(super) fn is_over(&self) -> bool {
        self.state.load(Ordering::Acquire) == OVER
    }

    /// Says whether the point is known to have been reached; an error counts as not.
    pub(super) fn is_reached(&self) -> bool {
        match self.state.load(Ordering::Acquire) {
            OPEN => false,
            OVER => true,
            _ => self.event.get().is_some_and(GpuEvent::is_reached),
        }
    }

    /// The event of the work's end, if there is one.
    fn recorded(&self) -> Option<&GpuEvent> {
        self.event.get().filter(|_| self.state.load(Ordering::Acquire) == RECORDED)
    }
}

/// The points of one stream.
pub(super) struct Points(InTurn<Of>);

#[derive(Default)]
struct Of {
    /// That of the latest work.
    last: Option<Arc<Point>>,
    /// Earlier ones, for use again: those that were last looked at, last.
    closed: VecDeque<Arc<Point>>,
}

impl Points {
    /// Those of a new stream of the context.
    pub(super) fn none(context: &Arc<Context>) -> Points {
        Points(InTurn::new(context, Of::default()))
    }

    /// Takes the points of a stream for the time of somebody's turn.
    pub(super) fn take<'t>(&'t self, turn: &'t Turn<'_>) -> Taken<'t> {
        Taken(self.0.borrow(turn))
    }
}

/// The points of a stream, for somebody whose turn it is.
pub(super) struct Taken<'a>(RefMut<'a, Of>);

impl Taken<'_> {
    /// The point of the stream's latest work, while it has no event.
    pub(super) fn last_open(&self) -> Option<&Arc<Point>> {
        self.0.last.as_ref().filter(|last| last.is_open())
    }

    /// Returns the point of work that is about to be put into the stream. It is the one of the
    /// latest work if that is open and has no more than `superseded` holders, which will all wait
    /// for the new work; else that one is closed.
    ///
    /// # Safety
    ///
    /// 0. `number` and `raw` are those of the stream whose points these are, and the stream is
    ///    alive until [`end`](Self::end) is called or its context fails.
    /// 1. Work is put into it only as work of the point that was returned last, in that turn.
    pub(super) unsafe fn next(
        &mut self,
        number: u64,
        raw: CUstream,
        superseded: usize,
        context: &Arc<Context>,
        turn: &Turn<'_>,
    ) -> Result<&Arc<Point>, Error> {
        let next = match self.0.last.take() {
            // One of the holders is this one.
            Some(last) if last.is_open() && Arc::strong_count(&last) <= superseded + 1 => last,
            earlier => {
                if let Some(earlier) = earlier {
                    // After an error its work is over, or the device is lost.
                    earlier.close(context, turn)?;
                    self.0.closed.push_back(earlier);
                }
                match self.0.unused() {
                    Some(unused) => unused,
                    // SAFETY: obligations 0 and 1.
                    None => Arc::new(unsafe { Point::open(number, raw) }),
                }
            }
        };
        Ok(self.0.last.insert(next))
    }

    /// Closes the point of the latest work, as the stream is about to end. The context is the
    /// calling thread's.
    pub(super) fn end(&mut self, context: &Arc<Context>, turn: &Turn<'_>) -> Result<(), Error> {
        match self.0.last.take() {
            Some(last) if Arc::strong_count(&last) > 1 => last.close(context, turn),
            _ => Ok(()),
        }
    }
}

impl Of {
    /// Takes a closed point that nothing needs any more, and opens it again.
    fn unused(&mut self) -> Option<Arc<Point>> {
        for _ in 0..self.closed.len().min(LOOKS) {
            let mut point = self.closed.pop_front()?;
            match Arc::get_mut(&mut point) {
                Some(unused) => {
                    // The event's earlier record does not matter: streams that wait for it took it
                    // when they were made to wait (driver API, `cuStreamWaitEvent`).
                    *unused.state.get_mut() = OPEN;
                    return Some(point);
                }
                None => self.closed.push_back(point),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
