//! Memory of cudarc's as arguments of a launch.

use std::any::{TypeId, type_name};

use cudarc::driver::{CudaSlice, CudaView, CudaViewMut};
use tilepipe::Element;
use tilepipe::launch::{ParameterKind, RawElements};

use crate::argument::lent::{Exclusive, Lent, Shared};
use crate::argument::linear::views_of_one_dimension;
use crate::argument::{Argument, Bound, Padded, Place, Value, sealed};

/// Elements of cudarc's that a kernel reads.
fn input<T: Element>(memory: &impl Shared, len: usize) -> Bound<'_> {
    bound::<T>(Lent::shared(memory), elements(len), 0, ParameterKind::Input)
}

/// Elements of cudarc's that a kernel writes, or that its threads add to.
fn output<T: Element>(memory: &mut impl Exclusive, len: usize, kind: ParameterKind) -> Bound<'_> {
    bound::<T>(Lent::exclusive(memory), elements(len), 0, kind)
}

/// Elements from the first one of the memory on.
fn elements(len: usize) -> Value {
    Value::Elements(Padded::new(RawElements { address: 0, len: len as u64 }))
}

/// Binds what lies so many bytes behind the start of the memory as the value's address says: where
/// that is cudarc says once the stream is known.
pub(super) fn bound<T: Element>(lent: Lent<'_>, value: Value, padding: usize, kind: ParameterKind) -> Bound<'_> {
    Bound {
        value,
        kind,
        element: TypeId::of::<T>(),
        element_name: type_name::<T>(),
        place: Some(Place::Lent(lent)),
        padding,
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

views_of_one_dimension!(inputs, outputs);
