//! Devices and streams of a program that uses cudarc.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cudarc::driver::sys::CUstream;
use cudarc::driver::{CudaContext, CudaStream, DriverError};

use crate::device::{Backend, Device};
use crate::error::Error;
use crate::gpu::context::{Context, Keep};
use crate::gpu::driver::{Driver, Status};
use crate::gpu::queue::GpuStream;
use crate::stream::Stream;

/// `CU_STREAM_PER_THREAD`: a handle that means another stream in each thread.
const PER_THREAD: usize = 2;

/// cudarc's context of a device, with what has to hold while work of this crate uses it.
pub(crate) struct Kept {
    pub(super) context: Arc<CudaContext>,
    /// cudarc records and waits for its events only while the context has a stream beside the
    /// default one.
    _stream: Arc<CudaStream>,
    /// Held from before the wait for cudarc's events until they are recorded anew.
    order: Mutex<()>,
}

impl Kept {
    /// That of a context, if it is cudarc's.
    pub(crate) fn of(context: &Context) -> Option<&Kept> {
        context.keep()?.downcast_ref()
    }

    /// Waits until nobody else launches over memory of cudarc's.
    pub(super) fn order(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether a stream, or what was allocated in it, is of this very context. Another
    /// `CudaContext` of the same GPU decides for itself when it waits for events.
    pub(super) fn has(&self, stream: &CudaStream) -> bool {
        Arc::ptr_eq(&self.context, stream.context())
    }

    /// Makes a stream of cudarc's.
    pub(crate) fn stream(&self, device: &Device, context: &Arc<Context>) -> Result<Stream, Error> {
        let stream = self.context.new_stream().map_err(|error| failed(context.driver, "create a stream", error))?;
        Ok(Stream { device: device.clone(), gpu: Some(adopt(context, &stream)?) })
    }
}

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
        let stream = context.new_stream().map_err(|error| failed(driver, "create a stream", error))?;
        let (raw, device) = (context.cu_ctx(), context.cu_device());
        let keep = Kept { context: Arc::clone(context), _stream: stream, order: Mutex::new(()) };
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
        if let Backend::Gpu(context) = &self.backend
            && let Some(kept) = Kept::of(context)
            && kept.has(stream)
        {
            return Ok((context, kept));
        }
        let owner = format!("another `CudaContext` (of GPU {})", stream.context().ordinal());
        Err(Error::WrongDevice { what: what(), owner, device: self.name().to_owned() })
    }
}

/// Makes a stream of cudarc's one for launches; it is of the context.
pub(super) fn adopt(context: &Arc<Context>, stream: &Arc<CudaStream>) -> Result<GpuStream, Error> {
    if is_per_thread(stream.cu_stream()) {
        return Err(Error::PerThreadStream);
    }
    let keep: Keep = Arc::clone(stream) as Keep;
    // SAFETY: a `CudaStream` is a stream of its context until it is dropped, and `keep` is a handle
    // of it; the one handle that is another stream for each thread was refused.
    Ok(unsafe { GpuStream::kept(context, stream.cu_stream(), keep) })
}

/// Says whether a handle means another stream in each thread.
pub(super) fn is_per_thread(stream: CUstream) -> bool {
    stream.addr() == PER_THREAD
}

/// What cudarc or the driver under it could not do.
pub(super) fn failed(driver: &Driver, doing: &'static str, error: DriverError) -> Error {
    driver.error(doing, Status(error.0 as i32))
}
