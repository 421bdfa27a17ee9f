//! Memory that neither this crate nor one that it knows has made, as arguments of a launch.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;

use tilepipe::Element;
use tilepipe::launch::{ParameterKind, RawElements};

use crate::argument::linear::views_of_one_dimension;
use crate::argument::{Argument, Bound, Padded, Place, Value, sealed};
use crate::device::Device;
use crate::error::Error;

/// Elements at an address, to be read by a kernel: what is passed for `Tiles` and `Halos` where a
/// [`Buffer`](crate::Buffer) is not, as in a program that has its memory from another library.
///
/// Nothing keeps the memory alive, and no launch waits for another because of it: the maker answers
/// for both.
///
/// # Examples
///
/// On the CPU the address is that of the process's own memory.
///
/// ```
/// use tilepipe::{Block, Input, TilesMut, kernel};
/// use tilepipe_host::{Device, Error, ForeignSlice, ForeignSliceMut, Schedule};
///
/// #[kernel]
/// fn add_one(block: Block<64>, input: Input<i32>, mut out: TilesMut<i32, 64>) {
///     let mut results = out.for_block(&block);
///     for i in 0..results.len() {
///         let first = 64 * results.number(i);
///         let result = results.get_mut(i);
///         block.threads(|t| result.set(&t, input.get(first + t.rank()).unwrap_or(0) + 1));
///     }
/// }
///
/// fn main() -> Result<(), Error> {
///     #[repr(align(16))]
///     struct Numbers([i32; 100]);
///     let (numbers, mut results) = (Numbers([5; 100]), Numbers([0; 100]));
///     let device = Device::cpu(Schedule::Lazy);
///     let from = numbers.0.as_ptr().expose_provenance() as u64;
///     let to = results.0.as_mut_ptr().expose_provenance() as u64;
///     // SAFETY: (0) both arrays have 100 numbers; (1) they outlive the launch, which is done when
///     // it returns; (2) nothing else uses them meanwhile.
///     let input = unsafe { ForeignSlice::<i32>::new(&device, from, 100) }?;
///     // SAFETY: as for the input.
///     let mut out = unsafe { ForeignSliceMut::<i32>::new(&device, to, 100) }?;
///     add_one::launch(&device.stream()?, 2, &input, &mut out)?;
///     assert_eq!(results.0, [6; 100]);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ForeignSlice<'a, T> {
    device: Device,
    elements: RawElements,
    memory: PhantomData<&'a [T]>,
}

/// Elements at an address, to be written by a kernel: what is passed for `TilesMut` or a
/// `Reduction` where a [`Buffer`](crate::Buffer) is not. See [`ForeignSlice`].
#[derive(Debug)]
pub struct ForeignSliceMut<'a, T> {
    device: Device,
    elements: RawElements,
    memory: PhantomData<&'a mut [T]>,
}

impl<T: Element> ForeignSlice<'_, T> {
    /// Names `len` elements from `address` on.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyBuffer`], [`Error::SizeOverflow`]; [`Error::BadAddress`] if the address is
    /// null or not aligned to `T`. The launch checks the alignment that the kernel wants.
    ///
    /// # Safety
    ///
    /// 0. At the address lie `len` initialised elements: on a GPU in memory that the device's
    ///    context can use, on the CPU in the process's, whose provenance was exposed.
    /// 1. They stay there for `'a`, and until every launch that has them as an argument is done.
    /// 2. Nobody writes them while such a launch runs. No launch waits for another because of
    ///    them: the caller puts launches that conflict on them into one stream, or waits.
    pub unsafe fn new(device: &Device, address: u64, len: usize) -> Result<Self, Error> {
        let elements = elements::<T>(address, len)?;
        Ok(ForeignSlice { device: device.clone(), elements, memory: PhantomData })
    }
}

impl<T: Element> ForeignSliceMut<'_, T> {
    /// Names `len` elements from `address` on.
    ///
    /// # Errors
    ///
    /// As for [`ForeignSlice::new`].
    ///
    /// # Safety
    ///
    /// 0. As for [`ForeignSlice::new`].
    /// 1. As for [`ForeignSlice::new`].
    /// 2. Nobody reads or writes them while such a launch runs. No launch waits for another because
    ///    of them: the caller puts launches that conflict on them into one stream, or waits.
    pub unsafe fn new(device: &Device, address: u64, len: usize) -> Result<Self, Error> {
        let elements = elements::<T>(address, len)?;
        Ok(ForeignSliceMut { device: device.clone(), elements, memory: PhantomData })
    }
}

/// Checks address and length.
pub(super) fn elements<T: Element>(address: u64, len: usize) -> Result<RawElements, Error> {
    let (element, alignment) = (type_name::<T>(), align_of::<T>());
    if len == 0 || size_of::<T>() == 0 {
        return Err(Error::EmptyBuffer { element });
    }
    let limit = isize::MAX as usize / size_of::<T>();
    if len > limit {
        return Err(Error::SizeOverflow { elements: len, element, limit });
    }
    let end = address.checked_add((len * size_of::<T>()) as u64);
    if address == 0 || end.is_none() || !address.is_multiple_of(alignment as u64) {
        return Err(Error::BadAddress { address, element, alignment });
    }
    Ok(RawElements { address, len: len as u64 })
}

/// Binds the elements, which stay as long as the launch needs them: their maker has promised it.
fn bound<T: Element>(device: &Device, elements: RawElements, kind: ParameterKind) -> Bound<'_> {
    Bound {
        value: Value::Elements(Padded::new(elements)),
        kind,
        element: TypeId::of::<T>(),
        element_name: type_name::<T>(),
        place: Some(Place::Foreign(device)),
        padding: 0,
    }
}

impl<T, P> sealed::Sealed<P> for &ForeignSlice<'_, T> {}
impl<T, P> sealed::Sealed<P> for &mut ForeignSliceMut<'_, T> {}

macro_rules! inputs {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$view> for &ForeignSlice<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                bound::<T>(&self.device, self.elements, ParameterKind::Input)
            }
        }
    )*};
}

macro_rules! outputs {
    ($([$($generics:tt)*] $view:ty, $kind:ident;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$view> for &mut ForeignSliceMut<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                bound::<T>(&self.device, self.elements, ParameterKind::$kind)
            }
        }
    )*};
}

views_of_one_dimension!(inputs, outputs);

#[cfg(test)]
mod tests {
    use tilepipe::cpu::Schedule;

    use super::*;

    #[test]
    fn an_address_is_aligned_not_null_and_has_room_for_the_elements_after_it() {
        let device = Device::cpu(Schedule::Lazy);
        // SAFETY: nothing is launched.
        let made = |address, len| unsafe { ForeignSlice::<u32>::new(&device, address, len) }.map(drop);
        made(4096, 1).unwrap();
        made(u64::MAX - 7, 1).unwrap();
        for (address, len) in [(0, 1), (4098, 1), (u64::MAX - 3, 1), (u64::MAX - 7, 2)] {
            let error = made(address, len).unwrap_err();
            assert!(matches!(error, Error::BadAddress { alignment: 4, .. }), "{address:#x}, {len}: {error}");
        }
        assert!(matches!(made(4096, 0), Err(Error::EmptyBuffer { .. })));
        assert!(matches!(made(4096, usize::MAX), Err(Error::SizeOverflow { .. })));
        // SAFETY: as above.
        let written = unsafe { ForeignSliceMut::<u32>::new(&device, 2, 1) };
        assert!(matches!(written.map(drop), Err(Error::BadAddress { address: 2, .. })));
    }
}
