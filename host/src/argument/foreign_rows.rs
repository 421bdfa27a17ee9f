//! Rows that neither this crate nor one that it knows has made, as arguments of a launch.

use std::any::{TypeId, type_name};
use std::marker::PhantomData;

use tilepipe::Element;
use tilepipe::launch::{ParameterKind, RawRows};

use crate::argument::foreign::elements;
use crate::argument::rows::views_of_two_dimensions;
use crate::argument::{Argument, Bound, Place, Value, sealed};
use crate::device::Device;
use crate::error::Error;

/// Rows of elements at an address, to be read by a kernel: what is passed for `Tiles2D`, its
/// relatives and a `Tensor` where a [`Buffer2D`](crate::Buffer2D) is not. It is to rows what
/// [`ForeignSlice`](crate::ForeignSlice) is to elements in a line.
///
/// # Examples
///
/// ```
/// use tilepipe::{Block, Input2D, Striped, TilesMut2D, kernel};
/// use tilepipe_host::{Device, Error, ForeignRows, ForeignRowsMut, Grid, Schedule};
///
/// #[kernel]
/// fn mirror(block: Block<32>, input: Input2D<i32>, mut out: TilesMut2D<i32, 1, 32, Striped>) {
///     let width = input.width();
///     let mut results = out.for_block(&block);
///     let places = results.places();
///     for i in 0..results.len() {
///         let (row, tile) = places.get(i);
///         let result = results.get_mut(i);
///         block.threads(|t| {
///             result.set_each(&t, |_, column| input.at(row, width - 1 - (32 * tile + column)));
///         });
///     }
/// }
///
/// fn main() -> Result<(), Error> {
///     let (numbers, mut results) = ([[1, 2, 3, 0], [4, 5, 6, 0]], [[0; 3]; 2]);
///     let device = Device::cpu(Schedule::Lazy);
///     let from = numbers.as_ptr().expose_provenance() as u64;
///     let to = results.as_mut_ptr().expose_provenance() as u64;
///     // SAFETY: (0) there are two rows of three numbers, four apart; (1) they outlive the launch,
///     // which is done when it returns; (2) nothing else uses them meanwhile.
///     let input = unsafe { ForeignRows::<i32>::new(&device, from, [2, 3], 4) }?;
///     // SAFETY: as for the input, but the rows are three apart.
///     let mut out = unsafe { ForeignRowsMut::<i32>::new(&device, to, [2, 3], 3) }?;
///     mirror::launch(&device.stream()?, Grid::tiles(), &input, &mut out)?;
///     assert_eq!(results, [[3, 2, 1], [6, 5, 4]]);
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
pub struct ForeignRows<'a, T> {
    device: Device,
    rows: RawRows,
    memory: PhantomData<&'a [T]>,
}

/// Rows of elements at an address, to be written by a kernel: what is passed for `TilesMut2D`, a
/// `TensorMut` or a `TileReduction` where a [`Buffer2D`](crate::Buffer2D) is not. See
/// [`ForeignRows`].
#[derive(Debug)]
pub struct ForeignRowsMut<'a, T> {
    device: Device,
    rows: RawRows,
    memory: PhantomData<&'a mut [T]>,
}

impl<T: Element> ForeignRows<'_, T> {
    /// Names `height` rows of `width` elements from `address` on, each `pitch` elements after the
    /// one before it.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyBuffer`], [`Error::SizeOverflow`]; [`Error::OverlappingRows`] if `pitch` is
    /// less than `width`; [`Error::BadAddress`] if the address is null or not aligned to `T`. The
    /// launch checks the alignments that the kernel wants.
    ///
    /// # Safety
    ///
    /// 0. At the address lie these rows, initialised: on a GPU in memory that the device's context
    ///    can use, on the CPU in the process's, whose provenance was exposed. What lies between two
    ///    rows may be anything of anybody's.
    /// 1. They stay there for `'a`, and until every launch that has them as an argument is done.
    /// 2. Nobody writes them while such a launch runs. No launch waits for another because of
    ///    them: the caller puts launches that conflict on them into one stream, or waits.
    pub unsafe fn new(device: &Device, address: u64, [height, width]: [usize; 2], pitch: usize) -> Result<Self, Error> {
        let rows = rows::<T>(address, [height, width], pitch)?;
        Ok(ForeignRows { device: device.clone(), rows, memory: PhantomData })
    }
}

impl<T: Element> ForeignRowsMut<'_, T> {
    /// Names `height` rows of `width` elements from `address` on, each `pitch` elements after the
    /// one before it.
    ///
    /// # Errors
    ///
    /// As for [`ForeignRows::new`].
    ///
    /// # Safety
    ///
    /// 0. As for [`ForeignRows::new`].
    /// 1. As for [`ForeignRows::new`].
    /// 2. Nobody reads or writes them while such a launch runs. No launch waits for another because
    ///    of them: the caller puts launches that conflict on them into one stream, or waits.
    pub unsafe fn new(device: &Device, address: u64, [height, width]: [usize; 2], pitch: usize) -> Result<Self, Error> {
        let rows = rows::<T>(address, [height, width], pitch)?;
        Ok(ForeignRowsMut { device: device.clone(), rows, memory: PhantomData })
    }
}

/// Checks address and extents.
fn rows<T: Element>(address: u64, [height, width]: [usize; 2], pitch: usize) -> Result<RawRows, Error> {
    if pitch < width {
        return Err(Error::OverlappingRows { width, pitch });
    }
    // All elements from the first row's first to the last row's last.
    let last = height.saturating_sub(1).saturating_mul(pitch);
    elements::<T>(address, if height == 0 || width == 0 { 0 } else { last.saturating_add(width) })?;
    Ok(RawRows { address, width: width as u64, height: height as u64, pitch: pitch as u64 })
}

/// Binds the rows, which stay as long as the launch needs them: their maker has promised it.
///
/// What lies behind a row is not known to be nobody's, so no padding is.
fn bound<T: Element>(device: &Device, rows: RawRows, kind: ParameterKind) -> Bound<'_> {
    Bound {
        value: Value::Rows(rows),
        kind,
        element: TypeId::of::<T>(),
        element_name: type_name::<T>(),
        place: Some(Place::Foreign(device)),
        padding: 0,
    }
}

impl<T, P> sealed::Sealed<P> for &ForeignRows<'_, T> {}
impl<T, P> sealed::Sealed<P> for &mut ForeignRowsMut<'_, T> {}

/// What may be passed for a view that is read.
macro_rules! inputs {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$view> for &ForeignRows<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                bound::<T>(&self.device, self.rows, ParameterKind::Input)
            }
        }
    )*};
}

/// What may be passed for a view that is written or added to.
macro_rules! outputs {
    ($([$($generics:tt)*] $view:ty;)*) => {$(
        impl<T: Element, $($generics)*> Argument<$view> for &mut ForeignRowsMut<'_, T> {
            fn bind<'a>(self) -> Bound<'a>
            where
                Self: 'a,
            {
                bound::<T>(&self.device, self.rows, ParameterKind::Output)
            }
        }
    )*};
}

views_of_two_dimensions!(inputs, outputs);

#[cfg(test)]
mod tests {
    use tilepipe::Tiles2D;
    use tilepipe::cpu::Schedule;

    use super::*;

    #[test]
    fn rows_lie_apart_from_one_another_at_an_address_that_has_room_for_them() {
        let device = Device::cpu(Schedule::Lazy);
        // SAFETY: nothing is launched.
        let made = |address, extents, pitch| unsafe { ForeignRows::<u32>::new(&device, address, extents, pitch) };
        let rows = made(4096, [3, 5], 8).unwrap().rows;
        assert_eq!((rows.width, rows.height, rows.pitch, rows.address), (5, 3, 8, 4096));
        // The last row ends after 2 * 8 + 5 elements, and 4 more bytes would be too many.
        made(u64::MAX - 21 * 4, [3, 5], 8).map(drop).unwrap_err();
        made(u64::MAX - 21 * 4 - 3, [3, 5], 8).map(drop).unwrap();
        assert!(matches!(made(4096, [3, 5], 4), Err(Error::OverlappingRows { width: 5, pitch: 4 })));
        for extents in [[0, 5], [3, 0]] {
            assert!(matches!(made(4096, extents, 8), Err(Error::EmptyBuffer { .. })), "{extents:?}");
        }
        assert!(matches!(made(4096, [usize::MAX, 2], 2), Err(Error::SizeOverflow { .. })));
        assert!(matches!(made(0, [1, 1], 1), Err(Error::BadAddress { .. })));
        // SAFETY: as above.
        let written = unsafe { ForeignRowsMut::<u32>::new(&device, 2, [1, 1], 1) };
        assert!(matches!(written.map(drop), Err(Error::BadAddress { address: 2, .. })));
    }

    #[test]
    fn boxes_of_a_matrix_are_copied_from_foreign_rows_and_stored_to_them() {
        use tilepipe::{Extents2, NoSwizzle, Tensor, TensorMut};

        let device = Device::cpu(Schedule::Lazy);
        // SAFETY: nothing is launched.
        let rows = unsafe { ForeignRows::<u32>::new(&device, 4096, [2, 4], 16) }.unwrap();
        let bound = Argument::<Tensor<'_, u32, Extents2<8, 8>, NoSwizzle>>::bind(&rows);
        assert_eq!(bound.kind, ParameterKind::Input);
        // SAFETY: as above.
        let mut rows = unsafe { ForeignRowsMut::<u32>::new(&device, 4096, [2, 4], 16) }.unwrap();
        let bound = Argument::<TensorMut<'_, u32, Extents2<8, 8>, NoSwizzle>>::bind(&mut rows);
        assert_eq!((bound.kind, bound.value.array().unwrap().pitches[0]), (ParameterKind::Output, 16));
    }

    #[test]
    fn rows_between_those_of_an_output_count_as_its_own_for_aliases() {
        let device = Device::cpu(Schedule::Lazy);
        // SAFETY: nothing is launched.
        let rows = unsafe { ForeignRows::<u32>::new(&device, 4096, [2, 4], 16) }.unwrap();
        let bound = Argument::<Tiles2D<'_, u32, 1, 4>>::bind(&rows);
        assert_eq!(bound.value.bytes(4), Some(4096..4096 + 20 * 4));
        assert!(bound.padding == 0 && bound.kind == ParameterKind::Input);
    }
}
