//! Tensor tiles as what a stage holds, and boxes as what fills it.

use core::convert::Infallible;
use core::marker::PhantomData;

use super::batches::{Batches, sealed as batches};
use super::contents::sealed;
use crate::element::Element;
use crate::engine::{Engine, LandingOf};
use crate::group::Deal;
use crate::product::OperandTile;
use crate::scope::Scope;
use crate::tensor::{BlockBoxes, Extents, Swizzle, TensorBox, TensorTile};
use crate::tile::shape::Shape;
use crate::view::numbers::TileNumbers;
use crate::view::order::Order;

/// What a tile without parts has of them: nothing.
pub struct NoParts<'a> {
    _none: Infallible,
    _tile: PhantomData<&'a ()>,
}

impl<T: Element, X: Extents, W: Swizzle> sealed::Contents for TensorTile<T, X, W> {
    const BYTES: usize = {
        assert!(
            X::PANELS == 1,
            "a `TensorTile` is one box: take `Extents2` for a tile that threads read, or an `OperandTile` of `Panels2`"
        );
        TensorTile::<T, X, W>::BYTES.next_multiple_of(TensorTile::<T, X, W>::ALIGNMENT)
    };
    const ALIGNMENT: usize = TensorTile::<T, X, W>::ALIGNMENT;
    const SHAPES: &'static [Shape] = &[<Self as sealed::OneTile>::SHAPE];
    type Presence = ();
    type Item = T;
    type Tiles<'a> = &'a TensorTile<T, X, W>;
    /// A box does not divide into parts of elements in a row.
    type Parts<'a> = NoParts<'a>;

    #[inline(always)]
    unsafe fn tiles<'a>(memory: *const u8) -> &'a Self {
        // SAFETY: the caller's promise; a stage's start is aligned for its tiles (`ALIGNMENT`).
        unsafe { &*memory.cast::<Self>() }
    }

    #[inline(always)]
    unsafe fn parts<'a>(_: *const u8, _: usize, _: usize) -> NoParts<'a> {
        // `check_parts` refuses such a tile at compile time.
        const { panic!("a tensor's tile has no parts: read `tile[(row, column)]`") }
    }
}

// SAFETY: elements are plain data, arrays of arrays of them have no padding, and the size is that
// of the elements (`TensorTile::BYTES`); 16 divides the least alignment of a swizzle.
unsafe impl<T: Element, X: Extents, W: Swizzle> sealed::OneTile for TensorTile<T, X, W> {
    const SHAPE: Shape = Shape::of_box(X::BOX[0], X::BOX[1] * size_of::<T>(), size_of::<T>());

    #[inline(always)]
    unsafe fn zero<E: Engine, G: Deal<S>, S: Scope>(stage: *mut u8, landing: LandingOf<E>) {
        // SAFETY: the caller's promises.
        unsafe { E::zero_box::<G, S>(stage, landing, TensorTile::<T, X, W>::BYTES) };
    }

    #[inline(always)]
    fn zero_bytes<E: Engine>() -> u32 {
        TensorTile::<T, X, W>::BYTES as u32
    }
}

impl<T: Element, X: Extents, W: Swizzle> sealed::Contents for OperandTile<T, X, W> {
    const BYTES: usize = (X::PANELS * TensorTile::<T, X, W>::BYTES).next_multiple_of(Self::ALIGNMENT);
    const ALIGNMENT: usize = TensorTile::<T, X, W>::ALIGNMENT;
    const READ_BY_THREADS: bool = false;
    const SHAPES: &'static [Shape] = &[<Self as sealed::OneTile>::SHAPE];
    type Presence = ();
    type Item = T;
    type Tiles<'a> = &'a OperandTile<T, X, W>;
    type Parts<'a> = NoParts<'a>;

    #[inline(always)]
    unsafe fn tiles<'a>(memory: *const u8) -> &'a Self {
        // SAFETY: the caller's promise; a stage's start is aligned for its tiles (`ALIGNMENT`), and
        // the type is that of the tile's first panel.
        unsafe { &*memory.cast::<Self>() }
    }

    #[inline(always)]
    unsafe fn parts<'a>(_: *const u8, _: usize, _: usize) -> NoParts<'a> {
        // `check_parts` refuses such a tile at compile time.
        const { panic!("an operand tile has no parts: tensor cores read it as a whole") }
    }
}

// SAFETY: elements are plain data; nothing is read of an operand by its type.
unsafe impl<T: Element, X: Extents, W: Swizzle> sealed::OneTile for OperandTile<T, X, W> {
    const SHAPE: Shape = Shape::of_box(X::PANELS * X::BOX[0], X::BOX[1] * size_of::<T>(), size_of::<T>());

    #[inline(always)]
    unsafe fn zero<E: Engine, G: Deal<S>, S: Scope>(stage: *mut u8, landing: LandingOf<E>) {
        // SAFETY: the caller's promises.
        unsafe { E::zero_box::<G, S>(stage, landing, X::PANELS * TensorTile::<T, X, W>::BYTES) };
    }

    #[inline(always)]
    fn zero_bytes<E: Engine>() -> u32 {
        (X::PANELS * TensorTile::<T, X, W>::BYTES) as u32
    }
}

impl<T: Element, X: Extents, W: Swizzle> sealed::Fill<OperandTile<T, X, W>> for TensorBox<'_, T, X, W> {
    #[inline(always)]
    unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) {
        for panel in 0..X::PANELS {
            // SAFETY: the tile has room for each panel behind the one before.
            let to = unsafe { stage.add(panel * TensorTile::<T, X, W>::BYTES) };
            // SAFETY: the caller's promises; a panel starts at a whole period of its swizzle, as it
            // has whole ones (`OperandTile::PERIODS`).
            unsafe { E::copy_box::<T, X, W, G, S>(to, landing, self.panel(panel)) };
        }
    }

    #[inline(always)]
    fn bytes<E: Engine>(&self) -> u32 {
        const { OperandTile::<T, X, W>::PERIODS }
        (X::PANELS * TensorTile::<T, X, W>::BYTES) as u32
    }
}

impl<T: Element, X: Extents, W: Swizzle> sealed::Fill<TensorTile<T, X, W>> for TensorBox<'_, T, X, W> {
    #[inline(always)]
    unsafe fn fill<E: Engine, G: Deal<S>, S: Scope>(self, stage: *mut u8, landing: LandingOf<E>) {
        // SAFETY: the caller's promises; the stage's start is aligned as the tile needs.
        unsafe { E::copy_box::<T, X, W, G, S>(stage, landing, self) };
    }

    #[inline(always)]
    fn bytes<E: Engine>(&self) -> u32 {
        TensorTile::<T, X, W>::BYTES as u32
    }
}

impl<T: Element, X: Extents, W: Swizzle, O: Order> Batches<TensorTile<T, X, W>> for &BlockBoxes<'_, T, X, W, O> {}

impl<'k, T: Element, X: Extents, W: Swizzle, O: Order> batches::Batches<TensorTile<T, X, W>>
    for &BlockBoxes<'k, T, X, W, O>
{
    type Source = TensorBox<'k, T, X, W>;
    type Order = O;
    const ALL_WHOLE: bool = true;

    #[inline(always)]
    fn numbers(&self) -> TileNumbers {
        BlockBoxes::numbers(self)
    }

    /// All of them: the engine sees to what lies beyond the tensor.
    #[inline(always)]
    fn whole_below(&self) -> usize {
        BlockBoxes::numbers(self).end()
    }

    #[inline(always)]
    unsafe fn source(&self, index: usize) -> TensorBox<'k, T, X, W> {
        self.get_unchecked(index)
    }

    #[inline(always)]
    unsafe fn whole(&self, index: usize) -> TensorBox<'k, T, X, W> {
        self.get_unchecked(index)
    }
}
