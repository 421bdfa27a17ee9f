//! A tensor that a kernel writes.

use core::marker::PhantomData;

use super::extents::OutputExtents;
use super::mapped::{Mapped, extents, stored};
use super::places::TilePlaces;
use super::swizzle::Swizzle;
use crate::element::Element;
use crate::group::block::Block;
use crate::isa::RawTensor;
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::output::bulk::WrittenByThreads;
use crate::view::geometry::Rows;
use crate::view::order::{Cyclic, Stepped};
use crate::view::share::Share;

/// Global memory with rows as boxes of extents `X` that this launch alone writes, by the copy
/// engine, from tiles that are swizzled as `W` says: a kernel's parameter.
///
/// Block `b` writes the boxes `i * grid + b`, counted row by row, and in more dimensions plane by
/// plane, or those that another order `O` gives it, so no two blocks share one. What of a box lies
/// beyond an edge is dropped by the engine. The boxes are written through
/// [`Outputs`](crate::Outputs), which take the tensor by value.
///
/// The host passes `&mut Buffer2D<T>`, or rows of a buffer, whose pitch is a multiple of 16 bytes;
/// the launch encodes the map. The engine writes 16 bytes at once: rows end at a multiple of those
/// or at the buffer's last column, or the launch is refused.
///
/// CUDA: `const __grid_constant__ CUtensorMap`, and the call of `cuTensorMapEncodeTiled` that makes
/// it.
///
/// # Invariants
///
/// 0. `array` is as for [`Tensor`](crate::Tensor), but that only this launch touches it, and what
///    lies behind its rows up to multiples of 16 bytes.
/// 1. There is one such value for this array in each block.
pub struct TensorMut<'k, T: Element, X: OutputExtents, W: Swizzle, O = Cyclic> {
    array: Mapped,
    brand: Brand<'k>,
    level: BlockLevel,
    shape: Named<(T, X, W, O)>,
}

impl<T: Element, X: OutputExtents, W: Swizzle, O> !Uniform for TensorMut<'_, T, X, W, O> {}

impl<T: Element, X: OutputExtents, W: Swizzle, O: Stepped> TensorMut<'_, T, X, W, O> {
    /// Makes the tensor whose map lies at `map`.
    ///
    /// # Safety
    ///
    /// The invariants hold, and that of [`Mapped`] for the map's own rows and columns.
    #[inline(always)]
    pub(crate) unsafe fn new(map: *const RawTensor) -> Self {
        // SAFETY: the caller's promise.
        let array = unsafe { Mapped::new(map) };
        TensorMut { array, brand: PhantomData, level: PhantomData, shape: PhantomData }
    }

    extents!();
    stored!(O);

    /// Returns the places of the block's tiles among the tensor's, in rows and columns of tiles:
    /// for inputs that are read elsewhere, by a role that is not the one that writes. A loop takes
    /// one after the other by `for tile in places`.
    #[inline(always)]
    #[track_caller]
    pub fn tile_places<const THREADS: usize>(&self, block: &Block<'_, THREADS>) -> TilePlaces {
        let _ = block;
        self.tile_places_of(self.share())
    }

    /// How many rows of the first tile of a matrix lie in front of the matrix.
    #[inline(always)]
    pub(crate) fn rows_in_front(&self) -> usize {
        O::rows_in_front(self.rows(), X::STRIDE[0])
    }

    /// The places of a share of its tiles.
    #[inline(always)]
    pub(crate) fn tile_places_of(&self, share: Share<Rows>) -> TilePlaces {
        TilePlaces::of::<O>(share, self.array.extents()[0].div_ceil(X::STRIDE[0]))
    }

    /// It exists for its message, and can't be called.
    #[doc(hidden)]
    pub fn for_block<B>(&mut self, _: &B)
    where
        Self: WrittenByThreads,
    {
    }
}
