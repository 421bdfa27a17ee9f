//! Memory of cudarc's as arguments of a launch.

use std::any::{TypeId, type_name};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUdeviceptr, CUevent};
use cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop};
use tilepipe::launch::{ParameterKind, RawElements};
use tilepipe::{
    AtomicOperation, BulkTilesMut, Element, Extents1, Halos, Operation, Reduction, Swizzle, Tensor, TensorMut,
    TileReduction, Tiles, TilesMut,
};

use crate::argument::{Argument, Bound, Padded, Place, Value, sealed};

/// Memory of cudarc's, borrowed for a launch.
#[derive(Clone)]
pub(crate) enum Lent<'a> {
    Shared(&'a dyn Shared),
    Exclusive(Arc<Mutex<&'a mut dyn Exclusive>>),
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
    /// The stream in whose order the memory is freed.
    pub(super) fn home(&self) -> Arc<CudaStream> {
        match self {
            Lent::Shared(memory) => Arc::clone(memory.home()),
            Lent::Exclusive(memory) => Arc::clone(memory.lock().unwrap_or_else(PoisonError::into_inner).home()),
        }
    }

    /// Makes a stream wait for what cudarc says has to come before the launch. Returns the first
    /// element's address, and the event that cudarc's later work waits for: the caller records it
    /// when the launch is in the stream. It is null where cudarc tracks nothing.
    pub(super) fn begin(&self, stream: &CudaStream) -> (CUdeviceptr, CUevent) {
        match self {
            Lent::Shared(memory) => disarmed(memory.begin(stream)),
            Lent::Exclusive(memory) => disarmed(memory.lock().unwrap_or_else(PoisonError::into_inner).begin(stream)),
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

/// Elements of cudarc's that a kernel reads.
fn input<'a, T: Element>(memory: &'a dyn Shared, len: usize) -> Bound<'a> {
    bound::<T>(Lent::Shared(memory), len, ParameterKind::Input)
}

/// Elements of cudarc's that a kernel writes, or that its threads add to.
fn output<'a, T: Element>(memory: &'a mut dyn Exclusive, len: usize, kind: ParameterKind) -> Bound<'a> {
    bound::<T>(Lent::Exclusive(Arc::new(Mutex::new(memory))), len, kind)
}

/// The address is cudarc's to say once the stream is known.
fn bound<T: Element>(lent: Lent<'_>, len: usize, kind: ParameterKind) -> Bound<'_> {
    Bound {
        value: Value::Elements(Padded::new(RawElements { address: 0, len: len as u64 })),
        kind,
        element: TypeId::of::<T>(),
        element_name: type_name::<T>(),
        place: Some(Place::Lent(lent)),
        padding: 0,
    }
}

/// What may be passed for a view: `&CudaSlice` and `&CudaView` for inputs.
macro_rules! inputs {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<T: Element, $($generics)*> sealed::Sealed<$view> for &CudaSlice<T> {}
        impl<T: Element, $($generics)*> Argument<$view> for &CudaSlice<T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                input::<T>(self, self.len())
            }
        }

        impl<T: Element, $($generics)*> sealed::Sealed<$view> for &CudaView<'_, T> {}
        impl<T: Element, $($generics)*> Argument<$view> for &CudaView<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                input::<T>(self, self.len())
            }
        }
    )*};
}

/// What may be passed for a view: `&mut CudaSlice` and `&mut CudaViewMut` for outputs.
macro_rules! outputs {
    ($([$($generics:tt)*] $view:ty, $kind:ident;)*) => {$(
        impl<T: Element, $($generics)*> sealed::Sealed<$view> for &mut CudaSlice<T> {}
        impl<T: Element, $($generics)*> Argument<$view> for &mut CudaSlice<T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                let len = self.len();
                output::<T>(self, len, ParameterKind::$kind)
            }
        }

        impl<T: Element, $($generics)*> sealed::Sealed<$view> for &mut CudaViewMut<'_, T> {}
        impl<T: Element, $($generics)*> Argument<$view> for &mut CudaViewMut<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                let len = self.len();
                output::<T>(self, len, ParameterKind::$kind)
            }
        }
    )*};
}

inputs! {
    [const LEN: usize] Tiles<'_, T, LEN>;
    [const LEN: usize, const HALO: usize] Halos<'_, T, LEN, HALO>;
    [const COLUMNS: usize, W: Swizzle] Tensor<'_, T, Extents1<COLUMNS>, W>;
}
outputs! {
    [const LEN: usize, A, O] TilesMut<'_, T, LEN, A, O>, Output;
    [const LEN: usize, O] BulkTilesMut<'_, T, LEN, O>, Output;
    [O: AtomicOperation<T>] Reduction<'_, T, O>, Reduction;
    [const COLUMNS: usize, W: Swizzle, O] TensorMut<'_, T, Extents1<COLUMNS>, W, O>, Output;
    [O: Operation<T>, const COLUMNS: usize, W: Swizzle] TileReduction<'_, T, O, Extents1<COLUMNS>, W>, Output;
}
