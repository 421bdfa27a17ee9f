//! Memory of cudarc's that is lent for a launch, whatever its element type and whether it is a
//! view.

use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUdeviceptr, CUevent};
use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use tilepipe::Element;

/// Memory of cudarc's, borrowed for a launch. (It may be used where a shorter borrow is asked for,
/// and so may the arguments that have it.)
#[derive(Clone)]
pub(crate) enum Lent<'a> {
    Shared(&'a dyn Shared),
    Exclusive(Arc<dyn Borrowed + 'a>),
}

impl<'a> Lent<'a> {
    /// Borrows memory that is written.
    pub(crate) fn exclusive(memory: &'a mut impl Exclusive) -> Self {
        Lent::Exclusive(Arc::new(Mutex::new(memory)))
    }
}

/// Memory that may be read.
pub(crate) trait Shared: Send + Sync {
    /// The stream in whose order it is freed.
    fn home(&self) -> &Arc<CudaStream>;

    /// Makes a stream wait for what has to come before a read; returns address and guard.
    fn begin<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>);
}

/// Memory that may be written.
pub(crate) trait Exclusive: Send + Sync {
    /// The stream in whose order it is freed.
    fn home(&self) -> &Arc<CudaStream>;

    /// Makes a stream wait for what has to come before a write; returns address and guard.
    fn begin<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>);
}

/// Memory that may be written by whoever has one of the handles of its borrow.
pub(crate) trait Borrowed: Send + Sync {
    /// Calls `look` once, with the stream in whose order it is freed.
    fn with_home(&self, look: &mut dyn FnMut(&CudaStream));

    /// As [`Lent::begin`].
    fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent);
}

impl<M: Exclusive> Borrowed for Mutex<&mut M> {
    fn with_home(&self, look: &mut dyn FnMut(&CudaStream)) {
        look(self.lock().unwrap_or_else(PoisonError::into_inner).home());
    }

    fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent) {
        disarmed(self.lock().unwrap_or_else(PoisonError::into_inner).begin(stream))
    }
}

macro_rules! shared {
    ($($type:ty),*) => {$(
        impl<T: Element> Shared for $type {
            fn home(&self) -> &Arc<CudaStream> {
                DeviceSlice::stream(self)
            }

            fn begin<'s>(&'s self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
                self.device_ptr(stream)
            }
        }
    )*};
}
shared!(CudaSlice<T>, CudaView<'_, T>);

macro_rules! exclusive {
    ($($type:ty),*) => {$(
        impl<T: Element> Exclusive for $type {
            fn home(&self) -> &Arc<CudaStream> {
                DeviceSlice::stream(self)
            }

            fn begin<'s>(&'s mut self, stream: &'s CudaStream) -> (CUdeviceptr, SyncOnDrop<'s>) {
                self.device_ptr_mut(stream)
            }
        }
    )*};
}
exclusive!(CudaSlice<T>, CudaViewMut<'_, T>);

impl Lent<'_> {
    /// What `look` says of the stream in whose order the memory is freed. It is alive as long as
    /// the borrow.
    pub(crate) fn with_home<R>(&self, look: impl FnOnce(&CudaStream) -> R) -> R {
        match self {
            Lent::Shared(memory) => look(memory.home()),
            Lent::Exclusive(memory) => {
                let (mut look, mut said) = (Some(look), None);
                memory.with_home(&mut |home| said = look.take().map(|look| look(home)));
                match said {
                    Some(said) => said,
                    None => unreachable!("`with_home` calls it once"),
                }
            }
        }
    }

    /// Makes a stream wait for what cudarc says has to come before the launch. Returns the first
    /// element's address, and the event that cudarc's later work waits for: the caller records it
    /// when the launch is in the stream. It is null where cudarc tracks nothing.
    pub(crate) fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent) {
        match self {
            Lent::Shared(memory) => disarmed(memory.begin(stream)),
            Lent::Exclusive(memory) => memory.begin(stream),
        }
    }
}

/// Takes the event out of a guard, which does nothing when it is dropped then: it would hide that
/// the event could not be recorded.
fn disarmed((address, mut guard): (CUdeviceptr, SyncOnDrop<'_>)) -> (CUdeviceptr, CUevent) {
    let event = match &mut guard {
        SyncOnDrop::Record(target) => target.take().map_or(ptr::null_mut(), |(event, _)| event.cu_event()),
        SyncOnDrop::Sync(stream) => {
            *stream = None;
            ptr::null_mut()
        }
    };
    (address, event)
}
