//! Devices and streams of a program that uses cudarc.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::{CudaContext, CudaStream};

use super::kept::{Kept, adopt};
use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::context::Context;
use crate::gpu::driver::Driver;
use crate::stream::Stream;

impl Device {
    /// Opens the GPU of a context of cudarc's, in that context. Every call with the same `Arc`
    /// returns the same device while one of them is there.
    ///
    /// The device keeps the `CudaContext`, which goes on after it: dropping the last handle waits
    /// for the context's work and gives back what the kernels needed. A kernel that panics or traps
    /// ends the context for cudarc too. [`Device::stream`] makes streams of cudarc's.
    ///
    /// While there is such a device, cudarc tracks events as in a program with several streams.
    ///
    /// # Errors
    ///
    /// [`Error::ArchitectureTooOld`] below `sm_80`, [`Error::DriverTooOld`], and [`Error::Driver`]
    /// for what the driver or cudarc refuses.
    ///
    /// # Examples
    ///
    /// ```
    /// use tilepipe_host::cudarc::driver::CudaContext;
    /// use tilepipe_host::{Device, Error};
    ///
    /// match Device::gpu(0) {
    ///     Err(Error::NoDriver | Error::NoSuchGpu { .. }) => println!("this needs a GPU"),
    ///     _ => {
    ///         let context = CudaContext::new(0)?;
    ///         let device = Device::from_cudarc(&context)?;
    ///         let stream = device.stream_from_cudarc(&context.default_stream())?;
    ///         stream.synchronize()?;
    ///     }
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_cudarc(context: &Arc<CudaContext>) -> Result<Device, Error> {
        static OPENED: Mutex<Vec<Weak<Context>>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|one| one.strong_count() > 0);
        let is_of = |one: &Arc<Context>| Kept::of(one).is_some_and(|kept| Arc::ptr_eq(&kept.context, context));
        if let Some(found) = opened.iter().filter_map(Weak::upgrade).find(is_of) {
            return Ok(Device { backend: Backend::Gpu(found) });
        }
        let driver = Driver::get()?;
        let (raw, device, keep) = (context.cu_ctx(), context.cu_device(), Kept::new(context, driver)?);
        // SAFETY: (0) a `CudaContext` is a context on its device until it is dropped, and `keep`
        // has a handle of it; (1) launches refuse streams that are being captured, except for
        // `foreign::launch`, whose caller keeps the device.
        let opening = unsafe { Context::kept(driver, raw, device, Arc::new(keep)) };
        let new = Arc::new(opening?);
        opened.push(Arc::downgrade(&new));
        Ok(Device { backend: Backend::Gpu(new) })
    }

    /// Makes a stream of cudarc's one for launches, which go into that very stream, between what
    /// cudarc puts there. It keeps the `CudaStream`.
    ///
    /// A launch in it while it is being captured into a graph is [`Error::Captured`].
    ///
    /// # Errors
    ///
    /// [`Error::WrongDevice`] unless the device is from the stream's own `Arc<CudaContext>`
    /// ([`Device::from_cudarc`]); [`Error::PerThreadStream`].
    pub fn stream_from_cudarc(&self, stream: &Arc<CudaStream>) -> Result<Stream, Error> {
        let (context, _) = self.cudarc_context(stream, || "cudarc's stream".to_owned())?;
        Ok(Stream { device: self.clone(), gpu: Some(adopt(context, stream)?) })
    }

    /// The context of a device that is from the `CudaContext` of this stream, or of what was
    /// allocated in it.
    pub(super) fn cudarc_context(
        &self,
        stream: &CudaStream,
        what: impl FnOnce() -> String,
    ) -> Result<(&Arc<Context>, &Kept), Error> {
        self.kept().filter(|(_, kept)| kept.has(stream)).ok_or_else(|| self.other_cudarc_context(stream, what()))
    }

    /// The context of a device that is from a `CudaContext`.
    pub(super) fn kept(&self) -> Option<(&Arc<Context>, &Kept)> {
        match &self.backend {
            Backend::Gpu(context) => Kept::of(context).map(|kept| (context, kept)),
            Backend::Cpu(_) => None,
        }
    }

    /// The error for a stream, or what was allocated in it, of another `CudaContext` than the
    /// device's.
    #[cold]
    pub(super) fn other_cudarc_context(&self, stream: &CudaStream, what: String) -> Error {
        let owner = format!("another `CudaContext` (of GPU {})", stream.context().ordinal());
        Error::WrongDevice { what, owner, device: self.name().to_owned() }
    }
}
