//! What a kernel can take as a parameter.

use super::{PARAMETER_BYTES, RawElements, RawRows};
use crate::element::Element;
use crate::output::tiles::{Arrangement, TilesMut};
use crate::output::tiles2d::TilesMut2D;
use crate::tile::Tile;
use crate::tile::tile2d::Tile2D;
use crate::view::tiles::TileView;
use crate::view::tiles2d::TileView2D;

/// A type that a kernel can take as a parameter beside its block and its shared memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a kernel",
    note = "a kernel takes `Block<THREADS>` first, then views (`Tiles`, `Halos`, `Tiles2D`, `TilesMut`, ..) and scalars, then at most one \
            `Shared`"
)]
pub trait Parameter<'k>: Sized + sealed::Sealed {
    /// The same type of parameter for another launch.
    type At<'x>: Parameter<'x, Raw = Self::Raw>;
    /// The part of it that is passed to the kernel: plain data of at most 128 bytes.
    type Raw: bytemuck::Pod;

    /// What a launch checks the argument against.
    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo;

    /// The part of it that host and GPU must agree on.
    #[doc(hidden)]
    const LAYOUT: ParameterLayout;

    /// Makes the parameter from what the launch passes.
    ///
    /// # Safety
    ///
    /// `raw` holds what `INFO` says, valid for `'k`, which lasts no longer than the launch.
    unsafe fn from_raw(raw: Self::Raw) -> Self;
}

/// How a parameter is used, and the sizes in its type: what the code on the GPU reads and writes of
/// it.
#[derive(Clone, Copy)]
pub struct ParameterLayout {
    /// `in`, `out` or `value`.
    pub(super) kind: &'static str,
    /// Of an element, in bytes.
    pub(super) size: usize,
    /// Of an element, in bytes.
    pub(super) element_alignment: usize,
    /// Of a tile; 1 for a scalar.
    pub(super) rows: usize,
    /// Of a tile, in elements; 1 for a scalar.
    pub(super) columns: usize,
    /// Of the base address, in bytes.
    pub(super) alignment: usize,
    /// Of each row, in bytes; 0 for one dimension.
    pub(super) row_alignment: usize,
    /// Size and alignment in bytes of what is passed to the kernel.
    pub(super) passed: [usize; 2],
}

/// Size and alignment of a parameter's `Raw`.
const fn passed<R>() -> [usize; 2] {
    assert!(
        size_of::<R>() <= PARAMETER_BYTES && align_of::<R>() <= PARAMETER_BYTES,
        "what travels of a parameter has at most 128 bytes"
    );
    [size_of::<R>(), align_of::<R>()]
}

impl ParameterLayout {
    /// The layout of tiles of the shape `S`.
    const fn of_tiles<S: Tile, R>(kind: &'static str, row_alignment: usize) -> Self {
        ParameterLayout {
            kind,
            size: size_of::<S::Element>(),
            element_alignment: align_of::<S::Element>(),
            rows: S::ROWS,
            columns: S::COLUMNS,
            alignment: 16,
            row_alignment,
            passed: passed::<R>(),
        }
    }

    /// The layout of a scalar.
    const fn of_scalar<T>() -> Self {
        let (size, element_alignment) = (size_of::<T>(), align_of::<T>());
        ParameterLayout {
            kind: "value",
            size,
            element_alignment,
            rows: 1,
            columns: 1,
            alignment: 1,
            row_alignment: 0,
            passed: passed::<T>(),
        }
    }
}

mod sealed {
    /// Keeps [`Parameter`](super::Parameter) to this crate's types: a launch trusts what it says.
    pub trait Sealed {}
}

impl<S: Tile> sealed::Sealed for TileView<'_, S> {}
impl<S: Tile> sealed::Sealed for TileView2D<'_, S> {}
impl<T: Element, const LEN: usize, A: Arrangement> sealed::Sealed for TilesMut<'_, T, LEN, A> {}
impl<T: Element, const ROWS: usize, const COLUMNS: usize> sealed::Sealed for TilesMut2D<'_, T, ROWS, COLUMNS> {}

impl<'k, S: Tile> Parameter<'k> for TileView<'k, S> {
    type At<'x> = TileView<'x, S>;
    type Raw = RawElements;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<S, RawElements>("in", 0);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of::<S::Element>(crate::launch::ParameterKind::Input, 16);

    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the launch checked that an input of this element type, aligned to 16, lies at the
        // address and that nobody writes it meanwhile.
        unsafe { TileView::new(raw.address as *const S::Element, raw.len as usize) }
    }
}

impl<'k, T: Element, const LEN: usize, A: Arrangement> Parameter<'k> for TilesMut<'k, T, LEN, A> {
    type At<'x> = TilesMut<'x, T, LEN, A>;
    type Raw = RawElements;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<[T; LEN], RawElements>("out", 0);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of::<T>(crate::launch::ParameterKind::Output, 16);

    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        // SAFETY: the launch checked that an output of this element type lies at the address, that
        // only this launch touches it, and each block makes one view of it.
        unsafe { TilesMut::new(raw.address as *mut T, raw.len as usize) }
    }
}

impl<'k, S: Tile> Parameter<'k> for TileView2D<'k, S> {
    type At<'x> = TileView2D<'x, S>;
    type Raw = RawRows;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<S, RawRows>("in", S::ALIGNMENT);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::two_dimensional::<S::Element>(crate::launch::ParameterKind::Input, S::ALIGNMENT);

    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        let RawRows { address, width, height, pitch } = raw;
        // SAFETY: the launch checked that an input of this element type with these rows, aligned to
        // 16 and at a pitch of a multiple of ALIGNMENT bytes, lies at the address and that nobody
        // writes it meanwhile.
        unsafe { TileView2D::new(address as *const S::Element, width as usize, height as usize, pitch as usize) }
    }
}

impl<'k, T: Element, const ROWS: usize, const COLUMNS: usize> Parameter<'k> for TilesMut2D<'k, T, ROWS, COLUMNS> {
    type At<'x> = TilesMut2D<'x, T, ROWS, COLUMNS>;
    type Raw = RawRows;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<Tile2D<T, ROWS, COLUMNS>, RawRows>("out", 1);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::two_dimensional::<T>(crate::launch::ParameterKind::Output, 1);

    #[inline(always)]
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        let RawRows { address, width, height, pitch } = raw;
        // SAFETY: the launch checked that an output of this element type with these rows lies at
        // the address, that only this launch touches it, and each block makes one view of it.
        unsafe { TilesMut2D::new(address as *mut T, width as usize, height as usize, pitch as usize) }
    }
}

macro_rules! scalars {
    ($($scalar:ty),*) => {$(
        impl sealed::Sealed for $scalar {}
        impl<'k> Parameter<'k> for $scalar {
            type At<'x> = $scalar;
            type Raw = $scalar;
            const LAYOUT: ParameterLayout = ParameterLayout::of_scalar::<$scalar>();

            #[cfg(not(target_arch = "nvptx64"))]
            const INFO: crate::launch::ParameterInfo =
                crate::launch::ParameterInfo::of::<$scalar>(crate::launch::ParameterKind::Scalar, 1);

            #[inline(always)]
            unsafe fn from_raw(raw: Self::Raw) -> Self {
                raw
            }
        }
    )*};
}
scalars!(u32, i32, u64, i64, f32, f64, usize);
