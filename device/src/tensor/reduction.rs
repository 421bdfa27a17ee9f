//! Tensors to which all blocks add tiles.

use core::marker::PhantomData;

use half::{bf16, f16};

use super::extents::OutputExtents;
use super::mapped::{Mapped, extents, stored};
use super::swizzle::Swizzle;
use crate::element::Element;
use crate::element::reduce::{Add, And, Max, Min, Or, Unordered, Xor};
use crate::isa::{self, ElementKind, RawTensor};
use crate::marker::{BlockLevel, Brand, Named, Uniform};
use crate::view::order::Cyclic;

/// An operation on elements `T` that the copy engine has: of [`reduce`](crate::reduce). Sealed.
/// What threads have is [`AtomicOperation`](crate::AtomicOperation).
///
/// | operation | elements |
/// |---|---|
/// | `Add` | `u32`, `i32`, `u64`, `i64` |
/// | `Unordered<Add>` | `f32`, `f64`, `f16`, `bf16` |
/// | `Min`, `Max` | `u32`, `i32`, `u64`, `i64` |
/// | `And`, `Or`, `Xor` | `u32`, `i32`, `u64`, `i64` |
#[diagnostic::on_unimplemented(
    message = "the copy engine has no `{Self}` of elements `{T}`",
    label = "no such operation",
    note = "it has `Add`, `Min`, `Max`, `And`, `Or` and `Xor` of `u32`, `i32`, `u64` and `i64`, and `Unordered<Add>` of `f32`, `f64`, `f16` and \
            `bf16` (the order of blocks decides how a sum is rounded)"
)]
pub trait Operation<T: Element>: 'static + sealed::Operation<T> {}

pub(crate) mod sealed {
    use super::{Element, ElementKind, isa};

    #[diagnostic::on_unimplemented(
        message = "the copy engine has no `{Self}` of elements `{T}`",
        label = "no such operation",
        note = "which operations exist is the engine's: take one of `tilepipe::reduce`"
    )]
    pub trait Operation<T: Element> {
        /// The instruction's.
        type Code: isa::ReduceCode;
        /// What the engine takes an element for.
        const KIND: ElementKind;
    }
}

macro_rules! operations {
    ($($operation:ty: $code:ty, $($element:ty => $kind:ident),*;)*) => {$($(
        impl Operation<$element> for $operation {}
        impl sealed::Operation<$element> for $operation {
            type Code = $code;
            const KIND: ElementKind = ElementKind::$kind;
        }
    )*)*};
}
// What is done bit by bit, and the sum, is the same with a sign and without. By a map of `i64` the
// engine has only the comparisons: it fails at the others (decision 55).
operations! {
    Add: isa::ReduceAdd, u32 => U32, i32 => I32, u64 => U64, i64 => U64;
    Unordered<Add>: isa::ReduceAdd, f32 => F32, f64 => F64, f16 => F16, bf16 => Bf16;
    Min: isa::ReduceMin, u32 => U32, i32 => I32, u64 => U64, i64 => I64;
    Max: isa::ReduceMax, u32 => U32, i32 => I32, u64 => U64, i64 => I64;
    And: isa::ReduceAnd, u32 => U32, i32 => I32, u64 => U64, i64 => U64;
    Or: isa::ReduceOr, u32 => U32, i32 => I32, u64 => U64, i64 => U64;
    Xor: isa::ReduceXor, u32 => U32, i32 => I32, u64 => U64, i64 => U64;
}

/// Global memory with rows as boxes of extents `X`, with which all blocks of this launch combine
/// tiles by the operation `O`, through the copy engine alone: a kernel's parameter.
///
/// Each element is combined atomically, as often as boxes are stored to it. No thread reads or
/// writes it in this launch, since the engine's operations are not atomic to those of threads; the
/// launch refuses its memory as any other argument. What it holds before counts, too.
///
/// The host passes `&mut Buffer2D<T>`, or rows of a buffer as for [`TensorMut`](crate::TensorMut);
/// [`Outputs`](crate::Outputs) store to it.
///
/// CUDA: `cuda::ptx::cp_reduce_async_bulk_tensor`.
///
/// # Invariants
///
/// 0. `array` is as for [`TensorMut`](crate::TensorMut), and the launch touches it only by such
///    operations.
pub struct TileReduction<'k, T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> {
    array: Mapped,
    brand: Brand<'k>,
    level: BlockLevel,
    shape: Named<(T, O, X, W)>,
}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> !Uniform for TileReduction<'_, T, O, X, W> {}

impl<T: Element, O: Operation<T>, X: OutputExtents, W: Swizzle> TileReduction<'_, T, O, X, W> {
    /// Makes the tensor whose map lies at `map`.
    ///
    /// # Safety
    ///
    /// The invariant holds, and that of [`Mapped`] for the map's own rows and columns.
    #[inline(always)]
    pub(crate) unsafe fn new(map: *const RawTensor) -> Self {
        // SAFETY: the caller's promise.
        let array = unsafe { Mapped::new(map) };
        TileReduction { array, brand: PhantomData, level: PhantomData, shape: PhantomData }
    }

    extents!();
    stored!(Cyclic);

    /// How many rows of boxes there are, those of all planes counted through.
    #[inline(always)]
    pub(crate) fn down(&self) -> usize {
        self.array.down::<X>()
    }
}
