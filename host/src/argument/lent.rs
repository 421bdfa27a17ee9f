//! Memory of cudarc's that is lent for a launch, whatever its element type and whether it is a
//! view.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::Arc;

use cudarc::driver::sys::{CUdeviceptr, CUevent};
use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use tilepipe::Element;

/// Memory of cudarc's, borrowed for a launch. (It may be used where a shorter borrow is asked for,
/// and so may the arguments that have it.)
#[derive(Clone, Copy)]
pub(crate) struct Lent<'a> {
    home: &'a CudaStream,
    memory: Memory<'a>,
}

#[derive(Clone, Copy)]
enum Memory<'a> {
    Shared(&'a (dyn Shared + 'a)),
    Exclusive(Alone<'a>),
}

/// Memory that may be written by whoever has one of the copies of its borrow, but by one at a time:
/// a lock for each launch costs more than all checks of its arguments.
#[derive(Clone, Copy)]
struct Alone<'a>(&'a (dyn Borrowed + 'a));

// SAFETY: what it refers to is `Send` (`Exclusive`), and used by one thread at a time
// (`Lent::begin`, 0).
unsafe impl Send for Alone<'_> {}
// SAFETY: as for `Send`: there is nothing else that a reference is of use for.
unsafe impl Sync for Alone<'_> {}

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

/// [`Exclusive`] memory, of whatever type.
trait Borrowed {
    /// As [`Lent::begin`].
    ///
    /// # Safety
    ///
    /// 0. As for [`Lent::begin`].
    unsafe fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent);
}

impl<M: Exclusive> Borrowed for UnsafeCell<M> {
    unsafe fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent) {
        // SAFETY: the cell was made of a mutable borrow that lasts as long as its own, and is
        // reached here alone; nobody else is here (obligation 0), and `Exclusive::begin` does not
        // come back here: it is one of the two below, which call cudarc.
        let memory = unsafe { &mut *self.get() };
        disarmed(memory.begin(stream))
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

impl<'a> Lent<'a> {
    /// Borrows memory that is read.
    pub(crate) fn shared(memory: &'a (impl Shared + 'a)) -> Self {
        Lent { home: memory.home(), memory: Memory::Shared(memory) }
    }

    /// Borrows memory that is written.
    pub(crate) fn exclusive(memory: &'a mut (impl Exclusive + 'a)) -> Self {
        let home: *const CudaStream = Arc::as_ptr(memory.home());
        // SAFETY: the memory has a handle of the stream, which is no part of it. It keeps that as
        // long as it is there, so for the whole borrow: nobody but `Exclusive::begin` uses it
        // meanwhile, which is cudarc's way to an address and events and leaves the handle alone.
        let home = unsafe { &*home };
        Lent { home, memory: Memory::Exclusive(Alone(UnsafeCell::from_mut(memory))) }
    }

    /// Says whether the launch writes it.
    pub(crate) fn is_exclusive(&self) -> bool {
        matches!(self.memory, Memory::Exclusive(_))
    }

    /// The stream in whose order the memory is freed.
    pub(crate) fn home(&self) -> &'a CudaStream {
        self.home
    }

    /// Makes a stream wait for what cudarc says has to come before the launch. Returns the first
    /// element's address, and the event that cudarc's later work waits for: the caller records it
    /// when the launch is in the stream. It is null where cudarc tracks nothing.
    ///
    /// # Safety
    ///
    /// 0. While this runs, nobody calls it with another copy of the same borrow.
    pub(crate) unsafe fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent) {
        match self.memory {
            Memory::Shared(memory) => disarmed(memory.begin(stream)),
            // SAFETY: passed on to the caller.
            Memory::Exclusive(Alone(memory)) => unsafe { memory.begin(stream) },
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
