//! Streams and events.

use std::time::Instant;

use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::event::GpuEvent;
use crate::gpu::queue::GpuStream;
#[cfg(feature = "cudarc")]
use crate::interop::Kept;

/// A queue of work on one device, CUDA's stream: what is put into it runs in order.
///
/// Launches in different streams may overlap, but never in conflict: where one writes a buffer that
/// the other uses, the later launch waits for the earlier one. On the CPU every launch is over when
/// the call returns.
///
/// # Examples
///
/// ```
/// # use tilepipe_host::{Device, Schedule};
/// let device = Device::cpu(Schedule::Lazy);
/// let stream = device.stream()?;
/// let start = stream.record()?;
/// // launches
/// let end = stream.record()?;
/// assert!(end.elapsed_ms_since(&start)? >= 0.0);
/// # Ok::<(), tilepipe_host::Error>(())
/// ```
pub struct Stream {
    pub(crate) device: Device,
    pub(crate) gpu: Option<GpuStream>,
}

impl Device {
    /// Creates a stream: work in it runs in order, and apart from other streams.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`], [`Error::DeviceLost`].
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Stream, Error> {
        #[cfg(feature = "cudarc")]
        if let Backend::Gpu(context) = &device.backend
            && let Some(kept) = Kept::of(context)
        {
            return Ok(Stream { device: device.clone(), gpu: Some(kept.stream(context)?) });
        }
        let gpu = match &device.backend {
            Backend::Gpu(context) => Some(GpuStream::new(context)?),
            Backend::Cpu(cpu) => {
                cpu.enter()?;
                None
            }
        };
        Ok(Stream { device: device.clone(), gpu })
    }

    /// Returns the stream's device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Records an event after all work that is in the stream now.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`], [`Error::DeviceLost`], or a failed kernel's report.
    pub fn record(&self) -> Result<Event, Error> {
        let point = match &self.gpu {
            Some(stream) => Point::Gpu(stream.record()?),
            None => {
                self.device.synchronize()?;
                Point::Cpu(Instant::now())
            }
        };
        Ok(Event { device: self.device.clone(), point })
    }

    /// Waits for the stream's work.
    ///
    /// # Errors
    ///
    /// [`Error::KernelPanicked`] or [`Error::KernelTrapped`] if a kernel failed,
    /// [`Error::DeviceLost`] afterwards.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.gpu {
            Some(stream) => stream.synchronize(),
            None => self.device.synchronize(),
        }
    }
}

/// A point in a stream's work, with the time at which it was reached.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, TilesMut, kernel};
/// use tilepipe_host::{Device, Grid, Schedule};
///
/// #[kernel]
/// fn ranks(block: Block<128>, mut out: TilesMut<u32, 128>) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let result = results.get_mut(i);
///         block.threads(|t| result.set(&t, t.rank() as u32));
///     }
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = Device::cpu(Schedule::Eager);
///     let (stream, mut out) = (device.stream()?, device.zeroed(1000)?);
///     ranks::launch(&stream, Grid::tiles(), &mut out)?; // the first launch also loads the kernel
///     let mut least = f64::INFINITY;
///     for _ in 0..5 {
///         let start = stream.record()?;
///         ranks::launch(&stream, Grid::tiles(), &mut out)?;
///         least = least.min(stream.record()?.elapsed_ms_since(&start)?);
///     }
///     assert!(least.is_finite(), "the kernel takes {least} ms");
///     Ok(())
/// }
/// ```
#[must_use = "an event that is neither waited for nor compared has no effect"]
pub struct Event {
    device: Device,
    point: Point,
}

enum Point {
    Gpu(GpuEvent),
    Cpu(Instant),
}

impl Event {
    /// Waits until the stream has reached the event.
    ///
    /// # Errors
    ///
    /// As for [`Stream::synchronize`].
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.point {
            Point::Gpu(event) => event.synchronize(),
            Point::Cpu(_) => self.device.synchronize(),
        }
    }

    /// Waits for both events, and returns the milliseconds from `earlier` to this one (about half a
    /// microsecond exact on a GPU).
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] if the events are of two devices; else as for
    /// [`Stream::synchronize`].
    pub fn elapsed_ms_since(&self, earlier: &Event) -> Result<f64, Error> {
        self.device.expect(&earlier.device, || "the earlier event".to_owned())?;
        match (&self.point, &earlier.point) {
            (Point::Gpu(end), Point::Gpu(start)) => end.elapsed_ms_since(start),
            (Point::Cpu(end), Point::Cpu(start)) => {
                let forward = end.saturating_duration_since(*start).as_secs_f64();
                let backward = start.saturating_duration_since(*end).as_secs_f64();
                Ok((forward - backward) * 1e3)
            }
            // The same device makes points of one kind only.
            _ => Ok(0.0),
        }
    }
}
