//! What a ring writes to.

use crate::element::Element;

use crate::isa::{self, BoxShape, Corner, RawTensor};
use crate::tensor::{Operation, OutputExtents, Swizzle, TensorMut, TensorTile, TileReduction};
use crate::view::geometry::Rows;
use crate::view::share::Share;

/// What a ring of output stages writes to: a [`TensorMut`], or a [`TileReduction`]. Sealed.
#[diagnostic::on_unimplemented(
    message = "the copy engine stores no tiles to `{Self}`",
    label = "not a `TensorMut` or a `TileReduction`",
    note = "views that threads write, such as `TilesMut2D`, are written by `out.for_block(&block)`; for a ring the parameter is a \
            `TensorMut<T, Extents2<ROWS, COLUMNS>, W>` of the same element, extents and swizzle as the output stages"
)]
pub trait Stored: sealed::Stored {
    /// An element.
    type Element: Element;
    /// The extents of a box.
    type Extents: OutputExtents;
    /// The swizzle of an output stage.
    type Swizzle: Swizzle;
}

/// What an output stage of a view holds.
pub type TileOf<V> = TensorTile<<V as Stored>::Element, <V as Stored>::Extents, <V as Stored>::Swizzle>;

pub(crate) mod sealed {
    use super::{BoxShape, Corner, RawTensor, Rows, Share};

    #[diagnostic::on_unimplemented(
        message = "the copy engine stores no tiles to `{Self}`",
        label = "not a `TensorMut` or a `TileReduction`",
        note = "a ring trusts its view to be written by the engine alone: take a `TensorMut`, or a `TileReduction`"
    )]
    pub trait Stored {
        /// Whether a box's stores are ordered.
        const IN_ORDER: bool;

        /// The map by which the engine finds the boxes.
        fn map(&self) -> *const RawTensor;

        /// Where the box in this row and column of boxes begins.
        fn corner(&self, row: usize, column: usize) -> Corner;

        /// Which boxes are this block's.
        fn share(&self) -> Share<Rows>;

        /// Has the engine write the tile at `from` to the box that begins at `at`.
        ///
        /// # Safety
        ///
        /// As `isa::tensor_store`; `map` is that of such a view, and the shape that of its boxes.
        unsafe fn store(map: *const RawTensor, at: Corner, from: *const u8, shape: BoxShape);
    }
}

impl<T: Element, X: OutputExtents, W: Swizzle> Stored for TensorMut<'_, T, X, W> {
    type Element = T;
    type Extents = X;
    type Swizzle = W;
}

impl<T: Element, X: OutputExtents, W: Swizzle> sealed::Stored for TensorMut<'_, T, X, W> {
    const IN_ORDER: bool = true;

    #[inline(always)]
    fn map(&self) -> *const RawTensor {
        TensorMut::map(self)
    }

    #[inline(always)]
    fn corner(&self, row: usize, column: usize) -> Corner {
        TensorMut::corner(self, row, column)
    }

    #[inline(always)]
    fn share(&self) -> Share<Rows> {
        TensorMut::share(self)
    }

    #[inline(always)]
    unsafe fn store(map: *const RawTensor, at: Corner, from: *const u8, shape: BoxShape) {
        // SAFETY: the caller's promises.
        unsafe { isa::tensor_store(map, at, from, shape) };
    }
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> Stored for TileReduction<'_, T, O, X, W> {
    type Element = T;
    type Extents = X;
    type Swizzle = W;
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> sealed::Stored for TileReduction<'_, T, O, X, W> {
    /// The engine's operations on an element are atomic, and their order is nobody's.
    const IN_ORDER: bool = false;

    #[inline(always)]
    fn map(&self) -> *const RawTensor {
        TileReduction::map(self)
    }

    #[inline(always)]
    fn corner(&self, row: usize, column: usize) -> Corner {
        TileReduction::corner(self, row, column)
    }

    #[inline(always)]
    fn share(&self) -> Share<Rows> {
        TileReduction::share(self)
    }

    #[inline(always)]
    unsafe fn store(map: *const RawTensor, at: Corner, from: *const u8, shape: BoxShape) {
        // SAFETY: the caller's promises; the map was encoded for elements of this kind.
        unsafe { isa::tensor_reduce::<O::Code>(map, at, from, shape, O::KIND) };
    }
}
