//! A stream, and graphs that are captured from it.
//!
//! An error names the driver's call that failed.

use std::marker::PhantomData;

use anyhow::{Context, Result};
use cudarc::driver::result::{graph, stream};
use cudarc::driver::sys::{CUgraph, CUgraphExec, CUgraphInstantiate_flags, CUstream, CUstreamCaptureMode};
use tilepipe_host::Device;

/// A stream of a device's context, destroyed when dropped.
pub struct Stream<'a> {
    raw: CUstream,
    device: &'a Device,
}

impl<'a> Stream<'a> {
    /// Makes a stream that waits for no other one.
    ///
    /// # Errors
    ///
    /// A call of the driver that failed.
    pub fn new(device: &'a Device) -> Result<Stream<'a>> {
        // Makes the device's context this thread's, which the calls below use.
        device.synchronize()?;
        let raw = stream::create(stream::StreamKind::NonBlocking).context("cuStreamCreate failed")?;
        Ok(Stream { raw, device })
    }

    /// Returns the driver's handle.
    pub fn raw(&self) -> CUstream {
        self.raw
    }

    /// Waits for all that is in the stream.
    ///
    /// # Errors
    ///
    /// A kernel that trapped, with its message where it has one.
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: the stream is alive.
        let waited = unsafe { stream::synchronize(self.raw) };
        // The device knows more of what went wrong.
        self.device.synchronize()?;
        waited.context("cuStreamSynchronize failed")
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and this is its last use; what is in it goes on to its end.
        let _ = unsafe { stream::destroy(self.raw) };
    }
}

/// Work that can be put into a stream again and again, in one call. It uses memory that lives for
/// `'a`.
pub struct Graph<'a> {
    raw: CUgraphExec,
    memory: PhantomData<&'a ()>,
}

impl<'a> Graph<'a> {
    /// Makes a graph of what `work` puts into a stream, which does not run now.
    ///
    /// The capture is relaxed: what else `work` asks of the driver is done at once, and is allowed.
    ///
    /// # Errors
    ///
    /// Those of `work`, and a call of the driver that failed.
    ///
    /// # Safety
    ///
    /// 0. What `work` puts into the stream uses only memory that lives for `'a`, and whose freeing
    ///    waits for the work on the device.
    /// 1. Nothing else is put into the stream meanwhile.
    /// 2. It may run as often as the graph is replayed: in the order of the streams of replays
    ///    nothing else uses what it writes.
    pub unsafe fn capture(stream: &Stream<'_>, work: impl FnOnce() -> Result<()>) -> Result<Graph<'a>> {
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive.
        unsafe { stream::begin_capture(stream.raw, mode) }.context("cuStreamBeginCapture failed")?;
        let done = work();
        // The capture ends in any case, or else the stream would be of no more use.
        // SAFETY: the stream is alive.
        let ended = unsafe { stream::end_capture(stream.raw) };
        let captured = match (done, ended) {
            (Ok(()), Ok(captured)) => Captured(captured),
            (Ok(()), Err(error)) => return Err(error).context("cuStreamEndCapture failed"),
            // The capture may be invalid for it, and leave no graph.
            (Err(error), ended) => {
                drop(ended.ok().filter(|graph| !graph.is_null()).map(Captured));
                return Err(error);
            }
        };
        // SAFETY: the graph is alive, and so is the memory that it names (0).
        let raw = unsafe { graph::instantiate(captured.0, CUgraphInstantiate_flags(0)) }
            .context("cuGraphInstantiateWithFlags failed")?;
        Ok(Graph { raw, memory: PhantomData })
    }

    /// Puts the work into a stream.
    ///
    /// # Errors
    ///
    /// A call of the driver that failed.
    pub fn replay(&self, stream: &Stream<'_>) -> Result<()> {
        // SAFETY: the graph and the stream are alive; the graph's work may run again (`capture`,
        // 2), on memory that lives now and is not freed before the work is done (0).
        unsafe { graph::launch(self.raw, stream.raw) }.context("cuGraphLaunch failed")
    }
}

impl Drop for Graph<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `capture`, and this is its last use; a replay under way goes on to its
        // end.
        let _ = unsafe { graph::exec_destroy(self.raw) };
    }
}

/// What a graph that can be replayed is made of; of no use once it is made.
struct Captured(CUgraph);

impl Drop for Captured {
    fn drop(&mut self) {
        // SAFETY: returned by `end_capture`, and this is its last use.
        let _ = unsafe { graph::destroy(self.0) };
    }
}
