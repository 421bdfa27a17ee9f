//! Global memory to which the threads of all blocks add, one value at a time.

use core::marker::PhantomData;

use half::f16;

use crate::element::Element;
use crate::element::reduce::{Add, And, Max, Min, Or, Unordered, Xor};
use crate::fault;
use crate::group::block::Thread;
use crate::isa::{self, ElementKind};
use crate::marker::{BlockLevel, Brand, Named, RoleShared, Uniform};

/// An operation on elements `T` that threads have as an atomic one: of
/// [`reduce`](crate::reduce). Sealed. What the copy engine has is [`Operation`](crate::Operation).
///
/// | operation | elements |
/// |---|---|
/// | `Add`, `Min`, `Max`, `And`, `Or`, `Xor` | `u32`, `i32`, `u64`, `i64` |
/// | `Unordered<Add>` | `f32`, `f64`, `f16` |
///
/// Each is one instruction of PTX. That of `f16` (`.add.noftz.f16`) is in machine code a loop that
/// compares and swaps the 4 bytes which the element shares with a neighbour.
#[diagnostic::on_unimplemented(
    message = "threads have no atomic `{Self}` of elements `{T}`",
    label = "no such operation",
    note = "of `u32`, `i32`, `u64` and `i64` there are `Add`, `Min`, `Max`, `And`, `Or` and `Xor`; narrower integers take the next wider of \
            these, and `usize` takes `u64`",
    note = "of `f32`, `f64` and `f16` there is `Unordered<Add>` (the order in which threads come decides how a sum is rounded); `bf16` takes \
            `f32`; the least or greatest float is that of a `tilepipe::key`, a `u64`"
)]
pub trait AtomicOperation<T: Element>: 'static + sealed::AtomicOperation<T> {}

/// What adds to a [`Reduction`] or to [`Bins`](crate::Bins): one thread, by its token
/// [`Thread`](crate::Thread). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't add: adds are made by threads, each by its own token",
    label = "not a thread's token",
    note = "add inside of `block.threads(|t| ..)`, with `&t`: in code of a whole group each of its threads would add on the GPU, and one on \
            the CPU",
    note = "a lane of a warp adds inside of `warp.lanes(|lane| ..)`, with `lane.thread()`"
)]
pub trait AddingThread: sealed::AddingThread {}

impl<const THREADS: usize> AddingThread for Thread<'_, '_, THREADS> {}
impl<const THREADS: usize> sealed::AddingThread for Thread<'_, '_, THREADS> {
    #[inline(always)]
    fn rank_in_group(&self) -> usize {
        self.rank()
    }
}

pub(crate) mod sealed {
    use super::{Element, ElementKind, isa};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't add: adds are made by threads, each by its own token",
        label = "not a thread's token",
        note = "add inside of `block.threads(|t| ..)`, with `&t`"
    )]
    pub trait AddingThread {
        /// The thread's rank in its block or role.
        fn rank_in_group(&self) -> usize;
    }

    #[diagnostic::on_unimplemented(
        message = "threads have no atomic `{Self}` of elements `{T}`",
        label = "no such operation",
        note = "which operations exist is the hardware's: take one of `tilepipe::reduce`"
    )]
    pub trait AtomicOperation<T: Element> {
        /// The instruction's.
        type Code: isa::ReduceCode;
        /// What the instruction takes an element for.
        const KIND: ElementKind;
        /// Whether the order of the operations changes the result.
        const UNORDERED: bool;
        /// What changes no value that it is combined with (but the sign of a zero).
        const IDENTITY: T;

        /// Whether a value is that, or a zero of another sign.
        fn is_identity(value: T) -> bool;

        /// Combines two values in the same way.
        fn combine(a: T, b: T) -> T;
    }
}

macro_rules! operations {
    ($element:ty: $kind:ident, $unordered:literal; $($operation:ty: $code:ty, $identity:expr, $combine:expr;)*) => {$(
        impl AtomicOperation<$element> for $operation {}
        impl sealed::AtomicOperation<$element> for $operation {
            type Code = $code;
            const KIND: ElementKind = ElementKind::$kind;
            const UNORDERED: bool = $unordered;
            const IDENTITY: $element = $identity;

            #[inline(always)]
            fn is_identity(value: $element) -> bool {
                value == <Self as sealed::AtomicOperation<$element>>::IDENTITY
            }

            #[inline(always)]
            fn combine(a: $element, b: $element) -> $element {
                $combine(a, b)
            }
        }
    )*};
}

macro_rules! integers {
    ($($element:ty: $kind:ident;)*) => {$(
        operations! {
            $element: $kind, false;
            Add: isa::ReduceAdd, 0, <$element>::wrapping_add;
            Min: isa::ReduceMin, <$element>::MAX, Ord::min;
            Max: isa::ReduceMax, <$element>::MIN, Ord::max;
            And: isa::ReduceAnd, !0, core::ops::BitAnd::bitand;
            Or: isa::ReduceOr, 0, core::ops::BitOr::bitor;
            Xor: isa::ReduceXor, 0, core::ops::BitXor::bitxor;
        }
    )*};
}

integers! {
    u32: U32;
    i32: I32;
    u64: U64;
    i64: I64;
}
operations! { f32: F32, true; Unordered<Add>: isa::ReduceAdd, 0.0, core::ops::Add::add; }
operations! { f64: F64, true; Unordered<Add>: isa::ReduceAdd, 0.0, core::ops::Add::add; }
operations! { f16: F16, true; Unordered<Add>: isa::ReduceAdd, f16::ZERO, sum_of_halves; }

/// The sum rounded to nearest even, as the atomic operation rounds it.
///
/// The `f32` in between may be rounded, too (65504 and the least `f16`), and changes nothing: its
/// 24 bits are twice those of an `f16` and two more.
#[inline(always)]
fn sum_of_halves(a: f16, b: f16) -> f16 {
    let sum = isa::widened_f16(a.to_bits()) + isa::widened_f16(b.to_bits());
    f16::from_bits(isa::rounded_f16([sum, 0.0]) as u16)
}

/// Global memory that the threads of all blocks combine values with, by the operation `O`: a
/// kernel's parameter.
///
/// Every thread adds to any element, by [`add`](Self::add). Nobody reads or writes it otherwise in
/// the launch, and the launch refuses its memory as any other argument. What it holds before
/// counts, too: the host fills it, with zeros for sums, and the next launch goes on where this one
/// ended. Counters wrap.
///
/// The host passes `&mut Buffer<T>`, or a slice of one. A value that many threads add to one
/// element is best combined first, by a collective such as [`Block::reduce`](crate::Block::reduce)
/// or in [`Bins`](crate::Bins).
///
/// CUDA: `atomicAdd` and its relatives on a pointer, or `cuda::atomic_ref` at device scope with
/// `memory_order_relaxed`, without the result. Boxes of a tensor are combined by the copy engine in
/// a [`TileReduction`](crate::TileReduction); one array is not both in a launch.
///
/// # Examples
///
/// ```
/// use tilepipe::reduce::{Add, Max};
/// use tilepipe::{Block, Reduction, Tiles, kernel};
///
/// /// How many numbers are above the limit, and the largest of all.
/// #[kernel]
/// fn above(
///     block: Block<64>,
///     numbers: Tiles<i32, 64>,
///     limit: i32,
///     count: Reduction<u32, Add>,
///     largest: Reduction<i32, Max>,
/// ) {
///     let tiles = numbers.for_block(&block);
///     for i in 0..tiles.len() {
///         let first = 64 * tiles.number(i);
///         block.threads(|t| {
///             let Some(number) = numbers.get(first + t.rank()) else { return };
///             if number > limit {
///                 count.add(&t, 0, 1);
///             }
///             largest.add(&t, 0, number);
///         });
///     }
/// }
///
/// fn main() -> Result<(), tilepipe_host::Error> {
///     let device = tilepipe_host::Device::cpu(Default::default());
///     let numbers: Vec<i32> = (-500..500).collect();
///     let input = device.upload(&numbers)?;
///     let (mut count, mut largest) = (device.zeroed(1)?, device.upload(&[i32::MIN])?);
///     above::launch(&device.stream()?, 3, &input, 99, &mut count, &mut largest)?;
///     assert_eq!((count.download()?, largest.download()?), (vec![400], vec![499]));
///     Ok(())
/// }
/// ```
///
/// # Invariants
///
/// 0. The `len` elements from `base` on are valid for reads and writes and aligned, for the whole
///    launch, which accesses them by `isa::reduce_global` alone.
pub struct Reduction<'k, T: Element, O: AtomicOperation<T>> {
    base: *mut T,
    len: usize,
    brand: Brand<'k>,
    level: BlockLevel,
    operation: Named<O>,
}

// SAFETY: (0) what can be written through a shared reference is written by commutative updates, and
// nobody can read it: there is no function that does, here or in the launch (0); (1) an update is
// no collective operation; (2) an address in global memory is bound to no OS thread.
unsafe impl<T: Element, O: AtomicOperation<T>> Uniform for Reduction<'_, T, O> {}
// SAFETY: as (0) above: commutative updates of what nobody can read in the launch.
unsafe impl<T: Element, O: AtomicOperation<T>> RoleShared for Reduction<'_, T, O> {}

impl<T: Element, O: AtomicOperation<T>> Reduction<'_, T, O> {
    /// Makes the view of the `len` elements at `base`.
    ///
    /// # Safety
    ///
    /// The invariant holds.
    #[inline(always)]
    pub(crate) unsafe fn new(base: *mut T, len: usize) -> Self {
        Reduction { base, len, brand: PhantomData, level: PhantomData, operation: PhantomData }
    }

    /// Returns the number of elements.
    #[expect(clippy::len_without_is_empty, reason = "the host passes no empty view")]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Combines element `index` with `value`, by the operation `O`.
    ///
    /// PTX: `red.global`. Its order among those of other threads is any; the result is there after
    /// the launch.
    ///
    /// # Threads
    ///
    /// Any one thread, of a block, a warp or a role.
    ///
    /// # Panics
    ///
    /// If `index >= self.len()`: the launch fails with both numbers, file and line.
    #[inline(always)]
    #[track_caller]
    pub fn add(&self, thread: &impl AddingThread, index: usize, value: T) {
        if index >= self.len {
            fault::out_of_range("index {} is out of range: the reduction has {} elements", index, self.len);
        }
        let _ = thread;
        // SAFETY: just checked.
        unsafe { self.add_unchecked(index, value) };
    }

    /// As [`add`](Self::add), in a thread of the caller's.
    ///
    /// # Safety
    ///
    /// There is such an element.
    #[inline(always)]
    pub(crate) unsafe fn add_unchecked(&self, index: usize, value: T) {
        // SAFETY: (0) an element, which the launch accesses by this function alone (0); (1) the
        // table has the operation, and its kind of the element.
        unsafe { isa::reduce_global::<O::Code, T>(self.base.wrapping_add(index), value, O::KIND) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_halves_are_combined_as_the_atomic_operation_does() {
        type Sum = Unordered<Add>;
        // Every exponent, with digits that round up, down and to even; no sum is NaN.
        let halves = || (0..0x7C00).step_by(0x155).chain([1, 0x3FF, 0x400, 0x7BFF, 0x7C00]).map(f16::from_bits);
        for a in halves().chain(halves().map(|half| -half)) {
            for b in halves().filter(|b| !(a + b).is_nan()) {
                let mut there = a;
                // SAFETY: (0) a local variable; (1) its kind.
                unsafe { isa::reduce_global::<isa::ReduceAdd, f16>(&raw mut there, b, ElementKind::F16) };
                let combined = <Sum as sealed::AtomicOperation<f16>>::combine(a, b);
                assert_eq!(combined.to_bits(), there.to_bits(), "{a:e} and {b:e}");
            }
        }
        let is_identity = <Sum as sealed::AtomicOperation<f16>>::is_identity;
        assert!([f16::ZERO, f16::NEG_ZERO].into_iter().all(is_identity));
        assert!(![f16::from_bits(1), f16::from_bits(0x8001), f16::NAN].into_iter().any(is_identity));
    }
}
