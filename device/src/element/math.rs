//! Floating-point functions for kernels: `core` has none on a GPU.
//!
//! Every function returns the same bits on the GPU and on the CPU. [`fma`] and [`sqrt`] are rounded
//! once, [`min`], [`max`] and [`abs`] are exact, and [`rsqrt`] and [`exp`] consist of such steps
//! alone. Subnormal numbers are never flushed to zero. Only a NaN's sign and payload may differ
//! between the two.
//!
//! The operators `+`, `-`, `*`, `/` keep that promise too: the compiler does not fuse `a * b + c`,
//! so write [`fma`] where one rounding or one instruction is wanted. The methods of `std`, such as
//! `f32::exp`, do not keep it: they exist on the CPU alone, and the platform's library decides on
//! their last bit.
//!
//! # Examples
//!
//! This turns scores into weights that add up to 1, with the same bits on both sides:
//!
//! ```
//! use tilepipe::math;
//!
//! fn softmax(scores: [f32; 4]) -> [f32; 4] {
//!     let greatest = scores.into_iter().fold(f32::NEG_INFINITY, math::max);
//!     let weights = scores.map(|score| math::exp(score - greatest));
//!     let sum: f32 = weights.iter().sum();
//!     weights.map(|weight| weight / sum)
//! }
//! assert_eq!(softmax([1.0, 1.0, 1.0, 1.0]), [0.25; 4]);
//! ```

use crate::element::Element;
use crate::isa;

/// A floating-point type with these functions. Sealed: `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`tilepipe::math` has no functions for `{Self}`",
    note = "they are for `f32` and `f64`; convert `f16` and `bf16` with `to_f32()` and `from_f32(..)`"
)]
pub trait Float: Element + sealed::Operations {}

impl Float for f32 {}
impl Float for f64 {}

/// Returns `a * b + c`, rounded once, to nearest even.
///
/// `fma.rn`; CUDA's `fmaf` and `fma`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// let x = 1.0 + f32::EPSILON;
/// assert_eq!(x * x - (1.0 + 2.0 * f32::EPSILON), 0.0);
/// assert_eq!(math::fma(x, x, -(1.0 + 2.0 * f32::EPSILON)), f32::EPSILON * f32::EPSILON);
/// ```
#[inline(always)]
pub fn fma<F: Float>(a: F, b: F, c: F) -> F {
    F::fma(a, b, c)
}

/// Returns the square root, rounded to nearest even. That of -0 is -0; that of a negative number is
/// NaN.
///
/// `sqrt.rn`; CUDA's `__fsqrt_rn` and `__dsqrt_rn`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::sqrt(2.25_f32), 1.5);
/// assert!(math::sqrt(-1.0_f64).is_nan());
/// ```
#[inline(always)]
pub fn sqrt<F: Float>(x: F) -> F {
    F::sqrt(x)
}

/// Returns `1 / sqrt(x)`, each step rounded to nearest even: less than 1.5 ulp from the exact
/// value.
///
/// That of +0 and -0 is the infinity of the same sign; that of +inf is +0; that of a negative
/// number is NaN.
///
/// `sqrt.rn`, `rcp.rn`. It replaces CUDA's `rsqrtf`, which is faster and whose last bits a CPU
/// can't reproduce.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::rsqrt(16.0_f32), 0.25);
/// assert_eq!(math::rsqrt(0.0_f64), f64::INFINITY);
/// ```
#[inline(always)]
pub fn rsqrt<F: Float>(x: F) -> F {
    F::rsqrt(x)
}

/// Returns e to the power of `x`: less than 0.9 ulp from the exact value in `f32`, less than 1 ulp
/// in `f64`.
///
/// That of a NaN is NaN, of +inf +inf, of -inf +0, of +0 and -0 exactly 1. A result that is too
/// large is +inf. One that is too small is rounded to a subnormal number, and finally to +0.
///
/// It is a polynomial without branches: 9 `fma.rn` in `f32` and 15 in `f64`, and about the same
/// number of other instructions. It replaces CUDA's `expf` and `exp`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::exp(1.0_f32), core::f32::consts::E);
/// assert_eq!(math::exp(-1000.0_f64), 0.0);
/// ```
#[inline(always)]
pub fn exp<F: Float>(x: F) -> F {
    F::exp(x)
}

/// Returns the lesser of two numbers. If one is NaN, it returns the other; -0 is less than +0.
///
/// `min`; CUDA's `fminf` and `fmin`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::min(1.0_f32, -2.0), -2.0);
/// assert_eq!(math::min(1.0_f32, f32::NAN), 1.0);
/// assert!(math::min(0.0_f64, -0.0).is_sign_negative());
/// ```
#[inline(always)]
pub fn min<F: Float>(a: F, b: F) -> F {
    F::min(a, b)
}

/// Returns the greater of two numbers. If one is NaN, it returns the other; +0 is greater than -0.
///
/// `max`; CUDA's `fmaxf` and `fmax`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::max(1.0_f32, -2.0), 1.0);
/// assert_eq!(math::max(f32::NAN, 1.0), 1.0);
/// assert!(math::max(-0.0_f64, 0.0).is_sign_positive());
/// ```
#[inline(always)]
pub fn max<F: Float>(a: F, b: F) -> F {
    F::max(a, b)
}

/// Returns `x` with its sign cleared.
///
/// `abs`; CUDA's `fabsf` and `fabs`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::abs(-1.5_f32), 1.5);
/// assert!(math::abs(-0.0_f64).is_sign_positive());
/// ```
#[inline(always)]
pub fn abs<F: Float>(x: F) -> F {
    F::abs(x)
}

mod sealed {
    /// What [`Float`](super::Float) has for each type.
    pub trait Operations: Sized {
        fn fma(a: Self, b: Self, c: Self) -> Self;
        fn sqrt(x: Self) -> Self;
        fn rsqrt(x: Self) -> Self;
        fn exp(x: Self) -> Self;
        fn min(a: Self, b: Self) -> Self;
        fn max(a: Self, b: Self) -> Self;
        fn abs(x: Self) -> Self;
    }
}

/// `first + r * (.. + r * last)` by Horner's rule, with one fused step per coefficient.
macro_rules! horner {
    ($fma:path, $r:ident, $last:expr) => { $last };
    ($fma:path, $r:ident, $first:expr, $($rest:expr),+) => { $fma(horner!($fma, $r, $($rest),+), $r, $first) };
}

/// The operations of one type.
///
/// `exp` reduces its argument after Cody and Waite: `x = k * ln(2) + r` with an integer `k` and
/// `|r| <= ln(2) / 2`, so that the result is `2^k * e^r`.
///
/// - The range is cut first where the result is +inf or +0 already; a NaN becomes a number here and
///   is put back last.
/// - Adding `ROUND`, which is 1.5 times 2 to the number of fraction bits, leaves `k`, rounded to
///   nearest, in the sum's low bits.
/// - `ln(2)` is the sum of two constants. The first has so few bits that `k` times it is exact, and
///   so is its difference from `x`; only the second step rounds.
/// - `2^k` is multiplied in two halves, each of which is a normal number. The product is rounded at
///   most once more, where it becomes subnormal.
macro_rules! operations {
    ($float:ident as $bits:ident, $fma:ident $sqrt:ident $min:ident $max:ident,
     exp from $least:literal to $greatest:literal, ln_2 = $high:literal + $low:literal,
     coefficients = [$($coefficient:literal),*]) => {
        impl sealed::Operations for $float {
            #[inline(always)]
            fn fma(a: Self, b: Self, c: Self) -> Self {
                isa::$fma(a, b, c)
            }

            #[inline(always)]
            fn sqrt(x: Self) -> Self {
                isa::$sqrt(x)
            }

            #[inline(always)]
            fn rsqrt(x: Self) -> Self {
                1.0 / isa::$sqrt(x)
            }

            #[inline(always)]
            fn exp(x: Self) -> Self {
                const FRACTION_BITS: u32 = $float::MANTISSA_DIGITS - 1;
                const BIAS: i32 = $float::MAX_EXP - 1;
                const ROUND: $float = (3_u64 << (FRACTION_BITS - 1)) as $float;
                /// 2 to the power of `k`, which is the exponent of a normal number.
                #[inline(always)]
                fn power_of_two(k: i32) -> $float {
                    $float::from_bits(((k + BIAS) as $bits) << FRACTION_BITS)
                }

                let number = isa::$min(isa::$max(x, $least), $greatest);
                let sum = isa::$fma(number, core::$float::consts::LOG2_E, ROUND);
                let k = (sum.to_bits() as i32).wrapping_sub(ROUND.to_bits() as i32);
                let whole = sum - ROUND;
                let r = isa::$fma(whole, -$high, number);
                let r = isa::$fma(whole, -$low, r);
                let power = horner!(isa::$fma, r, 1.0, 1.0, $($coefficient),*);
                let half = k >> 1;
                let result = power * power_of_two(half) * power_of_two(k - half);
                if x.is_nan() { x } else { result }
            }

            #[inline(always)]
            fn min(a: Self, b: Self) -> Self {
                isa::$min(a, b)
            }

            #[inline(always)]
            fn max(a: Self, b: Self) -> Self {
                isa::$max(a, b)
            }

            #[inline(always)]
            fn abs(x: Self) -> Self {
                x.abs()
            }
        }
    };
}

// The polynomial begins with 1 + r. Its coefficients from r^2 on are those with the least maximum
// relative error over |r| <= 1.0001 * ln(2) / 2 (Remez): each is rounded in turn, and the others
// are then fitted again. That error is 2^-28.2 in `f32` and 2^-61.7 in `f64`.
operations!(f32 as u32, fma_f32 sqrt_f32 min_f32 max_f32,
    exp from -104.0 to 89.0, ln_2 = 0.693_145_75 + 1.428_606_8e-6,
    coefficients = [0.499_999_94, 0.166_665_17, 0.041_668_102, 0.008_369_192_5, 0.001_383_890_2]);
operations!(f64 as u64, fma_f64 sqrt_f64 min_f64 max_f64,
    exp from -746.0 to 710.0, ln_2 = 0.693_147_180_560_117_7 + -1.723_944_452_561_483_5e-13,
    coefficients = [0.5, 0.166_666_666_666_666_88, 0.041_666_666_666_666_824, 0.008_333_333_333_313_899,
        0.001_388_888_888_877_790_8, 0.000_198_412_699_033_251_42, 2.480_158_755_863_782_7e-5,
        2.755_722_846_872_255_6e-6, 2.755_706_635_167_517e-7, 2.511_417_363_044_943_3e-8, 2.097_985_066_055_192e-9]);
