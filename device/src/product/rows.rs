//! Numbers for the rows of sums, and sums as a factor.

use core::marker::PhantomData;

use crate::isa;
use crate::isa::product::Width;
use crate::marker::{BlockLevel, Brand, Uniform};

/// A number of `f32` for each row of the sums of a role of `SIZE` threads: a row's largest sum, or
/// what its sums are divided by. ([`Sums::row_max`](super::Sums::row_max).)
///
/// A thread has those of the two rows whose sums it has, eight apart; the four neighbouring lanes
/// that share a row have the same number.
///
/// CUDA: FlashAttention's `row_max` and `row_sum`, fragments of two.
///
/// # Invariants
///
/// 0. The values are of the threads of the role whose code has the brand `'r`.
#[must_use = "a number for each row that nobody uses"]
pub struct RowValues<'r, const SIZE: usize> {
    pub(crate) values: isa::PerThread<[f32; 2], SIZE>,
    brand: Brand<'r>,
    level: BlockLevel,
}

impl<const SIZE: usize> !Uniform for RowValues<'_, SIZE> {}

impl<const SIZE: usize> RowValues<'_, SIZE> {
    /// # Safety
    ///
    /// The invariant holds.
    #[inline(always)]
    pub(crate) unsafe fn new(values: isa::PerThread<[f32; 2], SIZE>) -> Self {
        RowValues { values, brand: PhantomData, level: PhantomData }
    }
}

/// What each thread has of the sum of each row of sums: [`RowValues`] that are not added up yet
/// over the four lanes that share a row. ([`Sums::row_parts`](super::Sums::row_parts).)
///
/// A softmax over tiles adds up parts, and exchanges them between lanes once, at its end.
///
/// # Invariants
///
/// 0. The values are of the threads of the role whose code has the brand `'r`.
#[must_use = "parts of sums that nobody adds up"]
pub struct RowParts<'r, const SIZE: usize> {
    pub(crate) values: isa::PerThread<[f32; 2], SIZE>,
    brand: Brand<'r>,
    level: BlockLevel,
}

impl<const SIZE: usize> !Uniform for RowParts<'_, SIZE> {}

impl<const SIZE: usize> RowParts<'_, SIZE> {
    /// # Safety
    ///
    /// The invariant holds.
    #[inline(always)]
    pub(crate) unsafe fn new(values: isa::PerThread<[f32; 2], SIZE>) -> Self {
        RowParts { values, brand: PhantomData, level: PhantomData }
    }
}

/// Sums of a product rounded to `T`, as the left factor of another product: 64 rows for each
/// warpgroup, `D::COLUMNS` along K, in the registers in which the sums lay.
/// ([`Sums::into_factor`](super::Sums::into_factor).)
///
/// # Invariants
///
/// 0. Its elements are `T`s, of the threads of the role whose code has the brand `'r`.
#[must_use = "a factor that nothing is multiplied by"]
pub struct RowFactor<'r, T, D: Width, const SIZE: usize> {
    pub(crate) fragment: isa::Fragment<D>,
    element: PhantomData<T>,
    brand: Brand<'r>,
    level: BlockLevel,
}

impl<T, D: Width, const SIZE: usize> !Uniform for RowFactor<'_, T, D, SIZE> {}

impl<T, D: Width, const SIZE: usize> RowFactor<'_, T, D, SIZE> {
    /// # Safety
    ///
    /// The invariant holds.
    #[inline(always)]
    pub(crate) unsafe fn new(fragment: isa::Fragment<D>) -> Self {
        RowFactor { fragment, element: PhantomData, brand: PhantomData, level: PhantomData }
    }
}

/// 2 to the power of `x`, as the hardware approximates it: within 2 ulp, and 0 for powers below
/// 2^-126.
///
/// For the weights of attention. The CPU computes it exactly, so that results differ there, as sums
/// of products do anyway; [`math::exp2`](crate::math::exp2) has the same bits on both.
///
/// PTX: `ex2.approx.ftz.f32`. CUDA: `exp2f` with `-use_fast_math`.
///
/// # Examples
///
/// ```
/// use tilepipe::product::exp2_approximate;
///
/// assert_eq!(exp2_approximate(3.0), 8.0);
/// assert_eq!(exp2_approximate(f32::NEG_INFINITY), 0.0);
/// ```
#[inline(always)]
pub fn exp2_approximate(x: f32) -> f32 {
    isa::exp2_approximate(x)
}

/// 1 divided by `x`, as the hardware approximates it: within 1 ulp. What is subnormal counts as 0.
///
/// As [`exp2_approximate`] it differs on the CPU. Unlike a division it takes no branch, so that a
/// product may be on its way meanwhile.
///
/// PTX: `rcp.approx.ftz.f32`. CUDA: `__fdividef(1, x)`.
///
/// # Examples
///
/// ```
/// use tilepipe::product::reciprocal_approximate;
///
/// assert_eq!(reciprocal_approximate(4.0), 0.25);
/// assert_eq!(reciprocal_approximate(f32::INFINITY), 0.0);
/// ```
#[inline(always)]
pub fn reciprocal_approximate(x: f32) -> f32 {
    isa::reciprocal_approximate(x)
}
