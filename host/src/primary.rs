//! The primary context of a GPU, in which CUDA's runtime works, and so PyTorch, and streams of
//! whoever uses that.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::context::Context;
use crate::gpu::driver::Driver;
use crate::gpu::queue::{GpuStream, refuse_per_thread};
use crate::stream::Stream;

impl Device {
    /// Opens GPU `ordinal` in its primary context: that of CUDA's runtime, and of libraries and
    /// programs that use it, such as PyTorch. Memory and streams of theirs are of this context.
    ///
    /// Every call with the same ordinal returns the same device, which stays open until the process
    /// ends, as do the kernels that are loaded there: graphs that somebody has captured may launch
    /// them at any time. A kernel that panics or traps ends the context for all that use it. Each
    /// call on the device makes its context the calling thread's, as `cudaSetDevice` does.
    ///
    /// # Errors
    ///
    /// Those of [`Device::gpu`].
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe_host::{Device, Error};
    ///
    /// match Device::primary(0) {
    ///     Err(Error::NoDriver | Error::NoSuchGpu { .. }) => println!("this needs a GPU"),
    ///     device => {
    ///         // SAFETY: (0, 1) null is the default stream, which is there as long as the context,
    ///         // (2) and nobody captures here.
    ///         let stream = unsafe { device?.stream_from_raw(std::ptr::null_mut()) }?;
    ///         stream.synchronize()?;
    ///     }
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn primary(ordinal: u32) -> Result<Device, Error> {
        static OPENED: Mutex<Vec<(u32, Arc<Context>)>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = opened.iter().find(|(number, _)| *number == ordinal) {
            return Ok(Device { backend: Backend::Gpu(Arc::clone(found)) });
        }
        let new = Arc::new(Context::primary(Driver::get()?, ordinal)?);
        opened.push((ordinal, Arc::clone(&new)));
        Ok(Device { backend: Backend::Gpu(new) })
    }

    /// Makes a stream of somebody else's, a `cudaStream_t` or a `CUstream`, one for launches, which
    /// go into that very stream, between what its owner puts there. Null is the default stream.
    ///
    /// A launch whose memory is all [`ForeignSlice`]s and [`ForeignRows`] (and values) may be
    /// captured into a graph, once the kernel was launched before: its first launch asks the driver
    /// for more than a capture may have, and is [`Error::CapturedFirst`] there. A launch over
    /// buffers in a stream that is being captured is [`Error::Captured`].
    ///
    /// [`ForeignSlice`]: crate::ForeignSlice
    /// [`ForeignRows`]: crate::ForeignRows
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] unless the device is one of [`Device::primary`];
    /// [`Error::PerThreadStream`].
    ///
    /// # Safety
    ///
    /// 0. `stream` is a stream of the device's context, or null.
    /// 1. It is alive as long as what is returned.
    /// 2. Foreign memory that a launch in it uses stays where it is for each replay of a graph that
    ///    captured the launch, and nobody uses it then as [`ForeignSlice`] and [`ForeignRows`]
    ///    forbid.
    /// 3. A kernel that somebody else launches into it as a dependent one (programmatic dependent
    ///    launch) waits for the one before it before it ends.
    pub unsafe fn stream_from_raw(&self, stream: *mut c_void) -> Result<Stream, Error> {
        let context = match &self.backend {
            Backend::Gpu(context) if context.is_for_good() => context,
            Backend::Gpu(_) | Backend::Cpu(_) => {
                let (owner, device) = ("a device of `Device::primary`".to_owned(), self.name().to_owned());
                return Err(Error::WrongDevice { what: "the stream".to_owned(), owner, device });
            }
        };
        let stream = stream.cast();
        refuse_per_thread(stream)?;
        // SAFETY: (0) is (0) and (1), and the one handle that is another stream in each thread was
        // refused; (1) was checked of the context, and is (2) of the memory.
        let gpu = unsafe { GpuStream::capturable(context, stream) };
        Ok(Stream { device: self.clone(), gpu: Some(gpu) })
    }
}

#[cfg(test)]
mod tests;
