//! Arguments of a launch: what may be passed for which parameter of a kernel.

mod borrowed;
mod foreign;
mod foreign_rows;
#[cfg(feature = "cudarc")]
pub(crate) mod lent;
pub(crate) mod linear;
mod nothing;
pub(crate) mod place;
pub(crate) mod rows;
mod shape;
pub(crate) mod tensor;
mod value;

use std::any::{TypeId, type_name};

pub use tilepipe::launch::Scalar;
use tilepipe::launch::{LAUNCH_BYTES, ParameterKind};
use tilepipe::{AtomicOperation, BulkTilesMut, Constant, Element, Halos, Reduction, Tiles, TilesMut};

pub use self::foreign::{ForeignSlice, ForeignSliceMut};
pub use self::foreign_rows::{ForeignRows, ForeignRowsMut};
pub use self::nothing::Nothing;
use crate::access::Access;
pub(crate) use crate::argument::borrowed::ToBind;
pub(crate) use crate::argument::place::Place;
pub(crate) use crate::argument::value::{Array, Bytes, NOTHING, Padded, Value, matrices, matrices_of_rows};
use crate::buffer::{Buffer, Buffer2D, BufferNd, Rows, RowsMut, Slice, SliceMut, SliceNd, SliceNdMut};

/// What may be passed for a kernel's parameter of type `P`; the `launch` functions that `#[kernel]`
/// makes ask for it.
///
/// - `&Buffer<T>` or a [`Slice`] for the input views [`Tiles`] and [`Halos`];
/// - `&mut Buffer<T>` or a [`SliceMut`] for the output views [`TilesMut`] and [`BulkTilesMut`];
/// - `&Buffer2D<T>` or [`Rows`] for the two-dimensional input views `Tiles2D`, `ColumnTiles2D` and
///   `Halos2D`;
/// - `&mut Buffer2D<T>` or [`RowsMut`] for the two-dimensional output view `TilesMut2D`;
/// - `&mut Buffer<T>` or a [`SliceMut`] for a [`Reduction`];
/// - one of these for a `Tensor`, a `TensorMut` or a `TileReduction` of boxes of a matrix, and a
///   [`BufferNd`] or a [`SliceNd`] for one of as many dimensions;
/// - a number, a `bool`, an array or a struct for itself ([`Scalar`]);
/// - a reference `&value` for a [`Constant`] of the value's type;
/// - for a view of two dimensions also `&ForeignRows<T>` or `&mut ForeignRowsMut<T>`, and with the
///   feature `cudarc` `&CudaRows<T>` or `&mut CudaRowsMut<T>`;
/// - for a view of one dimension also `&ForeignSlice<T>` or `&mut ForeignSliceMut<T>`, and with the
///   feature `cudarc` `&CudaSlice<T>` or `&CudaView<T>` for an input, `&mut CudaSlice<T>` or
///   `&mut CudaViewMut<T>` for an output.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed for the kernel's parameter `{P}`",
    label = "wrong argument",
    note = "pass `&buffer` for an input view (`Tiles`, `Halos`), `&mut buffer` for an output view (`TilesMut`, `BulkTilesMut`) or a `Reduction`, a value of \
            exactly the parameter's type, and `&value` for a `Constant`",
    note = "a view of two dimensions (`Tiles2D`, `ColumnTiles2D`, `Halos2D`, `TilesMut2D`, `Tensor`, `TensorMut`) takes a `Buffer2D`, a tensor of other \
            extents a `BufferNd` of as many dimensions, any other view a `Buffer`",
    note = "the buffer's element type and the view's must match"
)]
pub trait Argument<P>: sealed::Sealed<P> {
    /// Makes the argument what [`launch`](crate::launch()) takes.
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a;
}

/// An argument whose type is known at run time only: for launches of an instance that is chosen at
/// run time.
///
/// Made by [`Bound::input`] and its relatives it keeps the buffer's memory alive, and no borrow of
/// the buffer: [`launch`](crate::launch()) checks that an output is used once, and orders launches
/// that conflict. Made by [`Argument::bind`], and of memory that is not a buffer's, it borrows that
/// for `'a`.
///
/// # Examples
///
/// ```
/// # use tilepipe_host::{Bound, Device, Schedule};
/// let device = Device::cpu(Schedule::Lazy);
/// let input = device.upload(&[1, 2, 3])?;
/// let mut out = device.zeroed::<i32>(3)?;
/// let arguments = [Bound::input(&input), Bound::output(&mut out), Bound::scalar(0.5_f32)];
/// # let _ = arguments;
/// # Ok::<(), tilepipe_host::Error>(())
/// ```
#[derive(Clone)]
pub struct Bound<'a> {
    pub(crate) value: Value,
    pub(crate) kind: ParameterKind,
    pub(crate) element: TypeId,
    pub(crate) element_name: &'static str,
    /// Where the elements of a view lie.
    pub(crate) place: Option<Place<'a>>,
    /// Elements behind each row that hold nothing, of rows.
    pub(crate) padding: usize,
}

impl<'a> Bound<'a> {
    /// Binds a buffer that the kernel reads.
    pub fn input<T: Element>(buffer: &Buffer<T>) -> Self {
        buffer.bound(ParameterKind::Input).kept()
    }

    /// Binds a buffer that the kernel writes.
    pub fn output<T: Element>(buffer: &mut Buffer<T>) -> Self {
        buffer.bound(ParameterKind::Output).kept()
    }

    /// Binds part of a buffer that the kernel reads.
    pub fn input_slice<T: Element>(slice: Slice<'_, T>) -> Self {
        slice.bound(ParameterKind::Input).kept()
    }

    /// Binds part of a buffer that the kernel writes.
    pub fn output_slice<T: Element>(slice: SliceMut<'_, T>) -> Self {
        slice.bound(ParameterKind::Output).kept()
    }

    /// Binds a buffer that the kernel's threads add to, as a [`Reduction`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let mut counts = device.zeroed::<u32>(256)?;
    /// let arguments = [Bound::reduction(&mut counts)];
    /// # let _ = arguments;
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn reduction<T: Element>(buffer: &mut Buffer<T>) -> Self {
        buffer.bound(ParameterKind::Reduction).kept()
    }

    /// Binds part of a buffer that the kernel's threads add to.
    pub fn reduction_slice<T: Element>(slice: SliceMut<'_, T>) -> Self {
        slice.bound(ParameterKind::Reduction).kept()
    }

    /// Binds a two-dimensional buffer that the kernel reads.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::{Bound, Device, Schedule};
    /// let device = Device::cpu(Schedule::Lazy);
    /// let input = device.upload_2d(&[1, 2, 3, 4, 5, 6], 3)?;
    /// let mut out = device.zeroed_2d::<i32>(3, 2)?;
    /// let arguments = [Bound::input_2d(&input), Bound::output_2d(&mut out)];
    /// # let _ = arguments;
    /// # Ok::<(), tilepipe_host::Error>(())
    /// ```
    pub fn input_2d<T: Element>(buffer: &Buffer2D<T>) -> Self {
        buffer.bound(ParameterKind::Input).kept()
    }

    /// Binds a two-dimensional buffer that the kernel writes.
    pub fn output_2d<T: Element>(buffer: &mut Buffer2D<T>) -> Self {
        buffer.bound(ParameterKind::Output).kept()
    }

    /// Binds rows that the kernel reads.
    pub fn input_rows<T: Element>(rows: Rows<'_, T>) -> Self {
        rows.bound(ParameterKind::Input).kept()
    }

    /// Binds rows that the kernel writes.
    pub fn output_rows<T: Element>(rows: RowsMut<'_, T>) -> Self {
        rows.bound(ParameterKind::Output).kept()
    }

    /// Binds a buffer of several dimensions that the kernel reads.
    pub fn input_nd<T: Element, const N: usize>(buffer: &BufferNd<T, N>) -> Self {
        buffer.bound(ParameterKind::Input).kept()
    }

    /// Binds a buffer of several dimensions that the kernel writes.
    pub fn output_nd<T: Element, const N: usize>(buffer: &mut BufferNd<T, N>) -> Self {
        buffer.bound(ParameterKind::Output).kept()
    }

    /// Binds part of a buffer of several dimensions that the kernel reads.
    pub fn input_slice_nd<T: Element, const N: usize>(slice: SliceNd<'_, T, N>) -> Self {
        slice.bound(ParameterKind::Input).kept()
    }

    /// Binds part of a buffer of several dimensions that the kernel writes.
    pub fn output_slice_nd<T: Element, const N: usize>(slice: SliceNdMut<'_, T, N>) -> Self {
        slice.bound(ParameterKind::Output).kept()
    }

    /// Binds a plain value of at most 16 bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::Bound;
    /// let arguments = [Bound::scalar(true), Bound::scalar([1_u8, 2, 3])];
    /// # let _ = arguments;
    /// ```
    pub fn scalar<S: Scalar>(value: S) -> Self {
        const {
            assert!(
                size_of::<S::Raw>() <= size_of::<[u64; 2]>(),
                "a value of more than 16 bytes is bound as a constant: `Bound::constant(&value)`"
            );
        };
        Bound::value::<S>(Value::scalar(bytemuck::bytes_of(&value.into_raw())), ParameterKind::Scalar)
    }

    /// Binds a copy of a value that the kernel takes as a [`Constant`].
    ///
    /// # Examples
    ///
    /// ```
    /// # use tilepipe_host::Bound;
    /// let mut filter = [0.25_f32; 64];
    /// let argument = Bound::constant(&filter);
    /// filter[0] = 0.0; // the argument keeps 0.25
    /// # let _ = argument;
    /// ```
    pub fn constant<T: Element>(value: &T) -> Self {
        const { assert!(size_of::<T>() <= LAUNCH_BYTES, "a launch carries 4096 bytes at most: take a view of a buffer") };
        Bound::value::<T>(Value::Constant(Bytes::of(value)), ParameterKind::Constant)
    }

    /// Binds what is passed of a `T`.
    fn value<T: 'static>(value: Value, kind: ParameterKind) -> Self {
        Bound { value, kind, element: TypeId::of::<T>(), element_name: type_name::<T>(), place: None, padding: 0 }
    }

    /// The argument of a buffer's memory with a handle of its own of that, and no borrow.
    fn kept<'b>(self) -> Bound<'b> {
        let Bound { value, kind, element, element_name, place, padding } = self;
        let place = place.and_then(|place| place.memory().cloned()).map(Place::Buffer);
        Bound { value, kind, element, element_name, place, padding }
    }

    /// Returns how the launch uses the memory.
    pub(crate) fn access(&self) -> Access {
        if self.kind.writes() { Access::Write } else { Access::Read }
    }
}

impl<T: Element, const LEN: usize> Argument<Tiles<'_, T, LEN>> for &Buffer<T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Input)
    }
}

impl<T: Element, const LEN: usize, const HALO: usize> Argument<Halos<'_, T, LEN, HALO>> for &Buffer<T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Input)
    }
}

impl<T: Element, const LEN: usize, A, O> Argument<TilesMut<'_, T, LEN, A, O>> for &mut Buffer<T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Output)
    }
}

impl<T: Element, const LEN: usize, O> Argument<BulkTilesMut<'_, T, LEN, O>> for &mut Buffer<T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Output)
    }
}

impl<T: Element, const LEN: usize, O> Argument<BulkTilesMut<'_, T, LEN, O>> for SliceMut<'_, T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Output)
    }
}

impl<T: Element, O: AtomicOperation<T>> Argument<Reduction<'_, T, O>> for &mut Buffer<T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Reduction)
    }
}

impl<T: Element, O: AtomicOperation<T>> Argument<Reduction<'_, T, O>> for SliceMut<'_, T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Reduction)
    }
}

impl<T: Element, const LEN: usize> Argument<Tiles<'_, T, LEN>> for Slice<'_, T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Input)
    }
}

impl<T: Element, const LEN: usize, const HALO: usize> Argument<Halos<'_, T, LEN, HALO>> for Slice<'_, T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Input)
    }
}

impl<T: Element, const LEN: usize, A, O> Argument<TilesMut<'_, T, LEN, A, O>> for SliceMut<'_, T> {
    fn bind<'a>(self) -> Bound<'a>
    where
        Self: 'a,
    {
        self.bound(ParameterKind::Output)
    }
}

impl<S: Scalar> Argument<S> for S {
    fn bind<'a>(self) -> Bound<'a> {
        Bound::scalar(self)
    }
}

impl<T: Element> Argument<Constant<'_, T>> for &T {
    fn bind<'a>(self) -> Bound<'a> {
        Bound::constant(self)
    }
}

pub(crate) mod sealed {
    use super::{Buffer, Constant, Element, Scalar, Slice, SliceMut};

    /// Keeps [`Argument`](super::Argument) to what is listed here and in `argument/`.
    pub trait Sealed<P> {}
    impl<T, P> Sealed<P> for &Buffer<T> {}
    impl<T, P> Sealed<P> for &mut Buffer<T> {}
    impl<T, P> Sealed<P> for Slice<'_, T> {}
    impl<T, P> Sealed<P> for SliceMut<'_, T> {}
    impl<S: Scalar> Sealed<S> for S {}
    impl<T: Element> Sealed<Constant<'_, T>> for &T {}
}

#[cfg(test)]
mod tests {
    use tilepipe::cpu::Schedule;
    use tilepipe::launch::{RawConstant, RawElements, RawRows, VALUE_ALIGNMENT};

    use super::*;
    use crate::device::Device;

    #[test]
    fn an_argument_may_be_used_where_one_of_a_shorter_borrow_is_asked_for() {
        fn shorter<'b, 'a: 'b>(bound: Bound<'a>) -> Bound<'b> {
            bound
        }
        assert_eq!(shorter(Bound::scalar(1_u32)).kind, ParameterKind::Scalar);
    }

    #[test]
    fn arguments_are_used_in_any_thread() {
        fn check<T: Send + Sync>() {}
        check::<Bound<'_>>();
    }

    #[test]
    fn a_typed_argument_borrows_memory_that_another_one_keeps() {
        let device = Device::cpu(Schedule::Lazy);
        let (input, mut out) = (device.zeroed::<u32>(8).unwrap(), device.zeroed::<u32>(8).unwrap());
        let is_kept = |bound: &Bound<'_>| matches!(bound.place, Some(Place::Buffer(_)));
        let typed = [
            Argument::<Tiles<'_, u32, 4>>::bind(&input),
            Argument::<Tiles<'_, u32, 4>>::bind(input.slice(4..).unwrap()),
            Argument::<TilesMut<'_, u32, 4>>::bind(&mut out),
        ];
        assert!(typed.iter().all(|bound| !is_kept(bound) && bound.place.as_ref().unwrap().is_of(&device)));
        let kept = [Bound::input(&input), Bound::input_slice(input.slice(4..).unwrap()), Bound::output(&mut out)];
        drop((input, out));
        assert!(kept.iter().all(is_kept));
        let [one, part, other] = kept.each_ref().map(|bound| bound.place.as_ref().and_then(Place::memory).unwrap());
        assert!(one.is(part) && !one.is(other));
    }

    #[test]
    fn arguments_keep_their_bytes_and_zeros_after_them() {
        let words = |bound: Bound<'_>| bound.value.raw().get::<[u64; 16]>();
        let first = |word| {
            let mut words = [0; 16];
            words[0] = word;
            words
        };
        assert_eq!(words(Bound::scalar(-1_i32)), first(0xFFFF_FFFF));
        assert_eq!(words(Bound::scalar(1.0_f32)), first(0x3F80_0000));
        assert_eq!(words(Bound::scalar(-2_i64)), first(u64::MAX - 1));
        assert_eq!(words(Bound::scalar(1.5_f64)), first(1.5_f64.to_bits()));
        assert_eq!(words(Bound::scalar(true)), first(1));
        assert_eq!(words(Bound::scalar(false)), first(0));
        assert_eq!(words(Bound::scalar(-1_isize)), first(u64::MAX));
        assert_eq!(words(Bound::scalar([1_u8, 2, 3])), first(0x03_02_01));
        assert_eq!(words(Bound::scalar(u128::MAX - 1))[..3], [u64::MAX - 1, u64::MAX, 0]);
        assert_eq!(words(Bound::scalar(tilepipe::Vec4([1_u32, 2, 3, 4])))[..3], [2 << 32 | 1, 4 << 32 | 3, 0]);
        let rows = RawRows { address: 1, width: 2, height: 3, pitch: 4 };
        assert_eq!(Value::Rows(rows).raw().get::<RawRows>(), rows);
        assert_eq!(Value::Rows(rows).raw().get::<[u64; 5]>(), [1, 2, 3, 4, 0]);
        let elements = Value::Elements(Padded::new(RawElements { address: 1, len: 2 }));
        for (value, expected) in [
            (Bound::scalar(-1_i32).value, [0xFFFF_FFFF, 0, 0, 0]),
            (Bound::scalar([1_u64, 2]).value, [1, 2, 0, 0]),
            (elements, [1, 2, 0, 0]),
            (Value::Rows(rows), [1, 2, 3, 4]),
        ] {
            // SAFETY: 32 bytes lie there, aligned to 8.
            assert_eq!(unsafe { value.as_ptr().cast::<[u64; 4]>().read() }, expected);
        }
    }

    #[test]
    fn a_constant_is_the_launches_own_copy_aligned_to_16_bytes() {
        let mut numbers: [u16; 9] = std::array::from_fn(|i| i as u16);
        let bound = Bound::constant(&numbers);
        numbers.fill(99);
        let copy = bound.clone();
        assert_eq!((bound.kind, bound.element), (ParameterKind::Constant, TypeId::of::<[u16; 9]>()));
        assert_eq!(bound.value.words(), None);
        let address = copy.value.raw().get::<RawConstant>().address;
        assert_eq!(address, bound.value.as_ptr().addr() as u64);
        assert!(address.is_multiple_of(VALUE_ALIGNMENT as u64));
        drop(bound);
        // SAFETY: 18 bytes and zeros up to 32 lie there while a clone of the argument is alive.
        let bytes = unsafe { copy.value.as_ptr().cast::<[u16; 16]>().read() };
        assert_eq!(bytes, [0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn values_and_constants_are_passed_as_the_parameters_type_says() {
        fn typed<'a>(
            flag: impl Argument<bool> + 'a,
            pair: impl Argument<[f32; 2]> + 'a,
            filter: impl Argument<Constant<'static, [f32; 3]>> + 'a,
        ) -> [Bound<'a>; 3] {
            [flag.bind(), pair.bind(), filter.bind()]
        }
        let kinds = [ParameterKind::Scalar, ParameterKind::Scalar, ParameterKind::Constant];
        // The literals are `f32` because the parameters are.
        assert_eq!(typed(true, [1.0, 2.0], &[1.0, 2.0, 3.0]).map(|bound| bound.kind), kinds);
    }
}
