//! What a kernel can take as a parameter.

use super::{PARAMETER_ALIGNMENT, PARAMETER_BYTES, RawElements, RawRows, RawTensor};
use crate::element::Element;
use crate::isa::DIMENSIONS;
use crate::output::arrangement::Arrangement;
use crate::output::bulk::{BulkTilesMut, PIECE};
use crate::output::reduction::{AtomicOperation, Reduction};
use crate::output::tile::OutputTile;
use crate::output::tiles::TileViewMut;
use crate::product::RowValuesMut;
use crate::tensor::{Extents, Operation, OutputExtents, Swizzle, Tensor, TensorMut, TensorTile, TileReduction};
use crate::tile::Tile;
use crate::tile::tile2d::Tile2D;
use crate::view::geometry::{Elements, Geometry, Rows};
use crate::view::order::{Order, Stepped};
use crate::view::tiles::TileView;

/// A type that a kernel can take as a parameter beside its block and its shared memory.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a parameter of a kernel",
    note = "a kernel takes `Block<THREADS>` first, then views (`Tiles`, `Halos`, `Tiles2D`, `TilesMut`, ..) and values, then at most one \
            `Shared`",
    note = "a value is a number, a `bool`, an array of elements, or a struct of your own with `#[repr(C)]` and \
            `#[derive(Clone, Copy, tilepipe::Element)]`; one of more than 16 bytes is a `Constant`"
)]
pub trait Parameter<'k>: Sized + sealed::Sealed {
    /// The same type of parameter for another launch.
    type At<'x>: Parameter<'x, Raw = Self::Raw>;
    /// The part of it that is passed to the kernel: plain data.
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
    /// At `raw`, readable for all of `'k` and written by nobody meanwhile, lies what `INFO` says,
    /// valid for `'k`, which lasts no longer than the launch. It is the launch's own copy of the
    /// parameter, the same for all threads.
    unsafe fn from_raw(raw: *const Self::Raw) -> Self;
}

/// Compiles for the type of a parameter alone: `#[kernel]` calls it at each of the types that a
/// kernel takes.
#[cfg(not(target_arch = "nvptx64"))]
pub const fn is_parameter<'k, P: Parameter<'k>>() {}

/// How a parameter is used, and the sizes in its type: what the code on the GPU reads and writes of
/// it.
#[derive(Clone, Copy)]
pub struct ParameterLayout {
    /// `in`, `out`, `bulk-out`, `row-out`, `reduce`, `value`, `bool` or `constant`; of a tensor
    /// `box`, `out-box` or `reduce-box`, and the bytes of its swizzle.
    pub(super) kind: &'static str,
    /// What a reduction takes an element for; else nothing.
    pub(super) element: &'static str,
    /// Of an element, in bytes.
    pub(super) size: usize,
    /// Of an element, in bytes.
    pub(super) element_alignment: usize,
    /// Dimensions of a tile.
    pub(super) dimensions: usize,
    /// Elements of a row of a tile, rows, planes and so on; 1 for a value.
    pub(super) extents: [usize; DIMENSIONS],
    /// Of the base address, in bytes.
    pub(super) alignment: usize,
    /// Of each row, in bytes; 0 for one dimension.
    pub(super) row_alignment: usize,
    /// Size and alignment in bytes of what is passed to the kernel.
    pub(super) passed: [usize; 2],
}

/// What a tensor's first element and its rows start at multiples of, in bytes: the copy engine asks
/// for it.
const TENSOR_ALIGNMENT: usize = 16;

/// Size and alignment of a parameter's `Raw`.
const fn passed<R>() -> [usize; 2] {
    assert!(
        size_of::<R>() <= PARAMETER_BYTES && align_of::<R>() <= PARAMETER_ALIGNMENT,
        "what travels of a parameter has at most 192 bytes"
    );
    [size_of::<R>(), align_of::<R>()]
}

impl ParameterLayout {
    /// The layout of tiles of the shape `S`, whose view starts at a multiple of `alignment` bytes,
    /// and so does each of its rows if it has several.
    const fn of_tiles<S: Tile, G: Passed>(kind: &'static str, alignment: usize) -> Self {
        ParameterLayout {
            kind,
            element: "",
            size: size_of::<S::Element>(),
            element_alignment: align_of::<S::Element>(),
            dimensions: 2,
            extents: [S::COLUMNS, S::ROWS, 1, 1, 1],
            alignment,
            row_alignment: if G::ROWS { alignment } else { 0 },
            passed: passed::<G::Raw>(),
        }
    }
}

pub(super) mod sealed {
    /// Keeps [`Parameter`](super::Parameter) to this crate's types: a launch trusts what it says.
    pub trait Sealed {}
}

impl<S: Tile, G: Geometry> sealed::Sealed for TileView<'_, S, G> {}
impl<S: OutputTile, G: Geometry, A: Arrangement, O: Order> sealed::Sealed for TileViewMut<'_, S, G, A, O> {}

/// A geometry as a launch passes it: the address of the first element, and the view's extents.
pub trait Passed: Geometry {
    /// What is passed.
    type Raw: bytemuck::Pod;
    /// Whether there are several rows, whose starts have an alignment.
    const ROWS: bool;

    /// The address and the geometry.
    fn of_raw(raw: Self::Raw) -> (u64, Self);
}

impl Passed for Elements {
    type Raw = RawElements;
    const ROWS: bool = false;

    #[inline(always)]
    fn of_raw(RawElements { address, len }: RawElements) -> (u64, Self) {
        (address, Elements::new(len as usize))
    }
}

impl Passed for Rows {
    type Raw = RawRows;
    const ROWS: bool = true;

    #[inline(always)]
    fn of_raw(RawRows { address, width, height, pitch }: RawRows) -> (u64, Self) {
        (address, Rows::new(width as usize, height as usize, pitch as usize))
    }
}

/// The alignment of an output's first element and of its rows, in bytes.
const fn written<S: Tile, A: Arrangement>() -> usize {
    if A::WIDE { S::ALIGNMENT } else { align_of::<S::Element>() }
}

impl<'k, S: Tile, G: Passed> Parameter<'k> for TileView<'k, S, G> {
    type At<'x> = TileView<'x, S, G>;
    type Raw = G::Raw;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<S, G>("in", S::ALIGNMENT);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of_view::<S>(crate::launch::ParameterKind::Input, G::ROWS, S::ALIGNMENT);

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        // SAFETY: readable (the caller's promise), and plain data.
        let (address, geometry) = G::of_raw(unsafe { raw.read() });
        // SAFETY: the launch checked that an input of this element type with these extents, whose
        // base and rows are aligned to ALIGNMENT, lies at the address and that nobody writes it
        // meanwhile.
        unsafe { TileView::new(address as *const S::Element, geometry) }
    }
}

impl<'k, S: OutputTile, G: Passed, A: Arrangement, O: Order> Parameter<'k> for TileViewMut<'k, S, G, A, O> {
    type At<'x> = TileViewMut<'x, S, G, A, O>;
    type Raw = G::Raw;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<S, G>("out", written::<S, A>());

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of_view::<S>(crate::launch::ParameterKind::Output, G::ROWS, written::<S, A>());

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        // SAFETY: readable (the caller's promise), and plain data.
        let (address, geometry) = G::of_raw(unsafe { raw.read() });
        // SAFETY: the launch checked that an output of this element type with these extents, whose
        // base and rows are aligned as `written` says, lies at the address and that only this
        // launch touches it, and each block makes one view of it.
        unsafe { TileViewMut::new(address as *mut S::Element, geometry) }
    }
}

impl<const ROWS: usize, O: Stepped> sealed::Sealed for RowValuesMut<'_, ROWS, O> {}

impl<'k, const ROWS: usize, O: Stepped> Parameter<'k> for RowValuesMut<'k, ROWS, O> {
    type At<'x> = RowValuesMut<'x, ROWS, O>;
    type Raw = RawRows;
    const LAYOUT: ParameterLayout =
        ParameterLayout::of_tiles::<Tile2D<f32, 1, ROWS>, Rows>("row-out", align_of::<f32>());

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo = crate::launch::ParameterInfo {
        optional: true,
        ..crate::launch::ParameterInfo::of_view::<Tile2D<f32, 1, ROWS>>(
            crate::launch::ParameterKind::Output,
            true,
            align_of::<f32>(),
        )
    };

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        // SAFETY: what lies there is valid for the launch (the caller's promise). The launch has
        // checked that an output of `f32` with these extents, or none, lies at the address and that
        // only this launch touches it, and each block makes one value of it.
        unsafe { RowValuesMut::new(raw) }
    }
}

impl<T: Element, const LEN: usize, O: Stepped> sealed::Sealed for BulkTilesMut<'_, T, LEN, O> {}

impl<'k, T: Element, const LEN: usize, O: Stepped> Parameter<'k> for BulkTilesMut<'k, T, LEN, O> {
    type At<'x> = BulkTilesMut<'x, T, LEN, O>;
    type Raw = RawElements;
    const LAYOUT: ParameterLayout = ParameterLayout::of_tiles::<[T; LEN], Elements>("bulk-out", PIECE);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of_view::<[T; LEN]>(crate::launch::ParameterKind::Output, false, PIECE);

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        // SAFETY: readable (the caller's promise), and plain data.
        let RawElements { address, len } = unsafe { raw.read() };
        // SAFETY: the launch checked that an output of this element type with so many elements,
        // whose base is aligned to 16, lies at the address and that only this launch touches it,
        // and each block makes one view of it.
        unsafe { BulkTilesMut::new(address as *mut T, len as usize) }
    }
}

impl<T: Element, O: AtomicOperation<T>> sealed::Sealed for Reduction<'_, T, O> {}

impl<'k, T: Element, O: AtomicOperation<T>> Parameter<'k> for Reduction<'k, T, O> {
    type At<'x> = Reduction<'x, T, O>;
    type Raw = RawElements;
    const LAYOUT: ParameterLayout = ParameterLayout {
        element: O::KIND.suffix(),
        ..ParameterLayout::of_tiles::<[T; 1], Elements>("reduce", align_of::<T>())
    };

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo =
        crate::launch::ParameterInfo::of_reduction::<T>(O::UNORDERED, align_of::<T>());

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        // SAFETY: readable (the caller's promise), and plain data.
        let RawElements { address, len } = unsafe { raw.read() };
        // SAFETY: the launch checked that memory of this element type with so many elements,
        // aligned for them, lies at the address, and that no other argument uses it; of a
        // reduction's functions only `add` accesses it.
        unsafe { Reduction::new(address as *mut T, len as usize) }
    }
}

/// The layout of a tensor's parameter of which the engine copies `extents` at once.
const fn of_tensor<T: Element, X: Extents>(
    kind: &'static str,
    element: &'static str,
    extents: [usize; DIMENSIONS],
) -> ParameterLayout {
    ParameterLayout {
        kind,
        element,
        size: size_of::<T>(),
        element_alignment: align_of::<T>(),
        dimensions: X::DIMENSIONS,
        extents,
        alignment: TENSOR_ALIGNMENT,
        row_alignment: TENSOR_ALIGNMENT,
        passed: passed::<RawTensor>(),
    }
}

impl<T: Element, X: Extents, W: Swizzle> sealed::Sealed for Tensor<'_, T, X, W> {}
impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> sealed::Sealed for TensorMut<'_, T, X, W, O> {}
impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> sealed::Sealed for TileReduction<'_, T, O, X, W> {}

impl<'k, T: Element, X: Extents, W: Swizzle> Parameter<'k> for Tensor<'k, T, X, W> {
    type At<'x> = Tensor<'x, T, X, W>;
    type Raw = RawTensor;
    const LAYOUT: ParameterLayout = of_tensor::<T, X>(W::KINDS[0], "", X::EXTENTS);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo = crate::launch::ParameterInfo::of_tensor::<T, X, W>(
        crate::launch::ParameterKind::Input,
        crate::launch::ElementKind::Bits,
        X::EXTENTS,
        TENSOR_ALIGNMENT,
    );

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        const { assert!(TensorTile::<T, X, W>::BYTES > 0) };
        // SAFETY: the launch encoded the map of an array of this element type, whose base and rows
        // are aligned to 16 and which nobody writes meanwhile, for boxes of these extents and this
        // swizzle. It refuses extents that are too large.
        unsafe { Tensor::new(raw) }
    }
}

impl<'k, T: Element, X: OutputExtents, W: Swizzle, O: Stepped> Parameter<'k> for TensorMut<'k, T, X, W, O> {
    type At<'x> = TensorMut<'x, T, X, W, O>;
    type Raw = RawTensor;
    const LAYOUT: ParameterLayout = of_tensor::<T, X>(W::KINDS[1], "", X::STORED);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo = crate::launch::ParameterInfo::of_tensor::<T, X, W>(
        crate::launch::ParameterKind::Output,
        crate::launch::ElementKind::Bits,
        X::STORED,
        TENSOR_ALIGNMENT,
    );

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        const { assert!(TensorTile::<T, X, W>::BYTES > 0) };
        // SAFETY: as above, of an array that only this launch touches, and whose last pieces of 16
        // bytes of each row are not shared with other elements, or the launch refuses it; each
        // block makes one such value of it.
        unsafe { TensorMut::new(raw) }
    }
}

impl<'k, T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> Parameter<'k> for TileReduction<'k, T, O, X, W> {
    type At<'x> = TileReduction<'x, T, O, X, W>;
    type Raw = RawTensor;
    const LAYOUT: ParameterLayout = of_tensor::<T, X>(W::KINDS[2], O::KIND.suffix(), X::STORED);

    #[cfg(not(target_arch = "nvptx64"))]
    const INFO: crate::launch::ParameterInfo = crate::launch::ParameterInfo::of_tensor::<T, X, W>(
        crate::launch::ParameterKind::Output,
        O::KIND,
        X::STORED,
        TENSOR_ALIGNMENT,
    );

    #[inline(always)]
    unsafe fn from_raw(raw: *const Self::Raw) -> Self {
        const { assert!(TensorTile::<T, X, W>::BYTES > 0) };
        // SAFETY: as above, of an array that only this launch touches, for which a map was encoded
        // whose elements are of the operation's kind; there is no other way to touch it than this
        // parameter.
        unsafe { TileReduction::new(raw) }
    }
}
