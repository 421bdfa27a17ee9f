//! The sums of a product.

use core::marker::PhantomData;

use crate::element::Element;
use crate::isa;
use crate::isa::product::Width;
use crate::marker::{BlockLevel, Brand, Uniform};

/// An element that sums are rounded to when they are stored: `f32`, [`bf16`](crate::bf16) or
/// [`f16`](crate::f16). Sealed.
///
/// To the nearest one, of two the even one; what is no number stays none. PTX:
/// `cvt.rn.bf16x2.f32`, `cvt.rn.f16x2.f32`.
#[diagnostic::on_unimplemented(
    message = "sums of a product are not stored as `{Self}`",
    label = "not `f32`, `bf16` or `f16`",
    note = "`store_sums` rounds to the output's element, which is `f32`, `bf16` or `f16`"
)]
pub trait SumElement: Element + sealed_sums::SumElement {
    /// The same number as an `f32`: one instruction, where the conversions of
    /// [`half`](https://docs.rs/half) are a program each on a GPU.
    ///
    /// PTX: a shift of `bf16`, `cvt.f32.f16`.
    fn widened(self) -> f32;

    /// The element that is nearest to a number, and of two as near the even one.
    ///
    /// PTX: `cvt.rn.bf16x2.f32`, `cvt.rn.f16x2.f32`, beside a zero.
    fn narrowed(number: f32) -> Self;
}

pub(crate) mod sealed_sums {
    #[diagnostic::on_unimplemented(
        message = "sums of a product are not stored as `{Self}`",
        label = "not `f32`, `bf16` or `f16`",
        note = "`store_sums` rounds to the output's element, which is `f32`, `bf16` or `f16`"
    )]
    pub trait SumElement {
        /// Two elements side by side.
        type Pair: bytemuck::Pod;
        /// Rounds both.
        fn round(pair: [f32; 2]) -> Self::Pair;
    }
}

impl SumElement for f32 {
    #[inline(always)]
    fn widened(self) -> f32 {
        self
    }

    #[inline(always)]
    fn narrowed(number: f32) -> f32 {
        number
    }
}
impl sealed_sums::SumElement for f32 {
    type Pair = u64;

    #[inline(always)]
    fn round([low, high]: [f32; 2]) -> u64 {
        u64::from(low.to_bits()) | u64::from(high.to_bits()) << 32
    }
}

impl SumElement for half::bf16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn narrowed(number: f32) -> Self {
        half::bf16::from_bits(isa::rounded_bf16([number, 0.0]) as u16)
    }
}
impl sealed_sums::SumElement for half::bf16 {
    type Pair = u32;

    #[inline(always)]
    fn round(pair: [f32; 2]) -> u32 {
        isa::rounded_bf16(pair)
    }
}

impl SumElement for half::f16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        isa::widened_f16(self.to_bits())
    }

    #[inline(always)]
    fn narrowed(number: f32) -> Self {
        half::f16::from_bits(isa::rounded_f16([number, 0.0]) as u16)
    }
}
impl sealed_sums::SumElement for half::f16 {
    type Pair = u32;

    #[inline(always)]
    fn round(pair: [f32; 2]) -> u32 {
        isa::rounded_f16(pair)
    }
}

/// The sums of a matrix product, as [`multiply`](crate::role::RoleGroup::multiply) returns them:
/// `f32` in the registers of a role's `SIZE` threads, 64 rows of `W::COLUMNS` for each warpgroup.
///
/// They are written by [`OutputRing::store_sums`](crate::OutputRing::store_sums). A thread has
/// `W::COLUMNS / 2` of them.
///
/// # Invariants
///
/// 0. All products on them are complete, and each has a value.
/// 1. They are of the threads of the role whose code has the brand `'r`.
#[must_use = "the product is thrown away: write it with `store_sums`"]
pub struct Sums<'r, W: Width, const SIZE: usize> {
    values: isa::Sums<W>,
    brand: Brand<'r>,
    level: BlockLevel,
}

impl<W: Width, const SIZE: usize> !Uniform for Sums<'_, W, SIZE> {}

impl<W: Width, const SIZE: usize> Sums<'_, W, SIZE> {
    /// # Safety
    ///
    /// The invariants hold.
    #[inline(always)]
    pub(crate) unsafe fn new(values: isa::Sums<W>) -> Self {
        Sums { values, brand: PhantomData, level: PhantomData }
    }

    /// The registers.
    #[inline(always)]
    pub(crate) fn into_values(self) -> isa::Sums<W> {
        self.values
    }

    /// The registers, to be read.
    #[inline(always)]
    pub(crate) fn registers(&self) -> &isa::Sums<W> {
        &self.values
    }

    /// The registers, for the role's own code.
    #[inline(always)]
    pub(crate) fn values(&mut self) -> &mut isa::Sums<W> {
        &mut self.values
    }

    /// The sum of the thread of rank `rank` in register `register`.
    ///
    /// # Safety
    ///
    /// The calling thread has this rank in the role, and `register` is below `W::COLUMNS / 2`.
    #[inline(always)]
    pub(crate) unsafe fn get(&self, rank: usize, register: usize) -> f32 {
        // SAFETY: all products are complete (0); the caller's promise.
        unsafe { self.values.get(rank, register) }
    }

    /// Two sums side by side of the thread of rank `rank`: number `pair` of its pairs, at the place
    /// of sum `2 * pair`.
    ///
    /// # Safety
    ///
    /// The calling thread has this rank in the role, and `pair` is below `W::COLUMNS / 4`.
    #[inline(always)]
    pub(crate) unsafe fn pair(&self, rank: usize, pair: usize) -> [f32; 2] {
        // SAFETY: all products are complete (0), and it is one of the thread's; the caller's
        // promise.
        let first = unsafe { self.values.get(rank, 2 * pair) };
        // SAFETY: as above.
        [first, unsafe { self.values.get(rank, 2 * pair + 1) }]
    }
}
