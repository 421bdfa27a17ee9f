//! cudarc's context under a device, and cudarc's streams under those for launches.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::{CudaContext, CudaStream, DriverError};

use crate::error::Error;
use crate::gpu::context::{Context, Keep};
use crate::gpu::driver::{Driver, Status};
use crate::gpu::queue::{GpuStream, refuse_per_thread};

/// cudarc's context of a device, with what has to hold while work of this crate uses it.
pub(crate) struct Kept {
    pub(super) context: Arc<CudaContext>,
    /// cudarc records and waits for its events only while the context has a stream beside the
    /// default one.
    _stream: Arc<CudaStream>,
    /// Held from before the wait for cudarc's events until they are recorded anew: so memory that a
    /// launch writes is used by one thread at a time, although arguments can be cloned.
    order: Mutex<()>,
}

impl Kept {
    /// Keeps a context of cudarc's.
    pub(super) fn new(context: &Arc<CudaContext>, driver: &Driver) -> Result<Kept, Error> {
        let stream = context.new_stream().map_err(|error| failed(driver, "create a stream", error))?;
        Ok(Kept { context: Arc::clone(context), _stream: stream, order: Mutex::new(()) })
    }

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

    /// Makes a stream of cudarc's, in the context that this keeps.
    pub(crate) fn stream(&self, context: &Arc<Context>) -> Result<GpuStream, Error> {
        let stream = self.context.new_stream().map_err(|error| failed(context.driver, "create a stream", error))?;
        adopt(context, &stream)
    }
}

/// Makes a stream of cudarc's one for launches; it is of the context.
pub(super) fn adopt(context: &Arc<Context>, stream: &Arc<CudaStream>) -> Result<GpuStream, Error> {
    refuse_per_thread(stream.cu_stream())?;
    let keep: Keep = Arc::clone(stream) as Keep;
    // SAFETY: a `CudaStream` is a stream of its context until it is dropped, and `keep` is a handle
    // of it; the one handle that is another stream for each thread was refused.
    Ok(unsafe { GpuStream::kept(context, stream.cu_stream(), keep) })
}

/// What cudarc or the driver under it could not do.
pub(super) fn failed(driver: &Driver, doing: &'static str, error: DriverError) -> Error {
    driver.error(doing, Status(error.0 as i32))
}
