//! The functions that kernels call.

use super::float::Float;

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

/// Returns the greatest integer that is not greater than `x`; that of -0 is -0.
///
/// `cvt.rmi`; CUDA's `floorf` and `floor`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::floor(2.75_f32), 2.0);
/// assert_eq!(math::floor(-0.5_f64), -1.0);
/// ```
#[inline(always)]
pub fn floor<F: Float>(x: F) -> F {
    F::floor(x)
}

/// Returns the nearest integer, with the sign of `x`; of two that are equally near, the one away
/// from zero.
///
/// `cvt.rzi` and five more instructions; CUDA's `roundf` and `round`, and Rust's. Where it does not
/// matter which of two integers it is, [`round_ties_even`] is a single one.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!([0.5, 1.5, 2.5, -2.5].map(math::round), [1.0, 2.0, 3.0, -3.0_f32]);
/// assert_eq!(math::round(0.5_f64.next_down()), 0.0);
/// ```
#[inline(always)]
pub fn round<F: Float>(x: F) -> F {
    F::round(x)
}

/// Returns the nearest integer, with the sign of `x`; of two that are equally near, the even one.
///
/// `cvt.rni`; CUDA's `rintf` and `rint`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!([0.5, 1.5, 2.5, -2.5].map(math::round_ties_even), [0.0, 2.0, 2.0, -2.0_f32]);
/// ```
#[inline(always)]
pub fn round_ties_even<F: Float>(x: F) -> F {
    F::round_ties_even(x)
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

/// Returns `1 / sqrt(x)` of a positive normal number, with fewer instructions than [`rsqrt`]: less
/// than 1.1 ulp from the exact value, but not exact where that is a number of the type.
///
/// Other arguments than positive normal numbers have results without a meaning, which are the same
/// on both sides too. That of a NaN is NaN.
///
/// A guess by integer arithmetic and two steps of Newton's, without branches: 5 `fma.rn` in `f32`
/// and 7 in `f64`, 4 multiplications, a shift and a subtraction. (`sqrt.rn` and `rcp.rn` are a
/// longer program each.) It replaces CUDA's `rsqrtf`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// let [x, y, z] = [1.0_f32, 2.0, 2.0];
/// let scale = math::rsqrt_fast(x * x + y * y + z * z);
/// assert!((scale - 1.0 / 3.0).abs() < 1e-7);
/// ```
#[inline(always)]
pub fn rsqrt_fast<F: Float>(x: F) -> F {
    F::rsqrt_fast(x)
}

/// Returns `x` to the power of `n`: for exponents to 1000, less than `n` ulp from the exact value,
/// and less than `2 * |n|` ulp if `n` is negative. The powers 0, 1, 2 and -1 are rounded at most
/// once.
///
/// Each multiplication rounds, and errors add up: beyond 1000 they grow a little faster.
///
/// The power 0 of everything is 1, of a NaN too. That of a zero is a zero, or for a negative `n` an
/// infinity, with its sign if `n` is odd.
///
/// At most `2 * log2(|n|)` multiplications, in a loop that the compiler unrolls where it knows `n`;
/// before them `rcp.rn` if `n` is negative. It replaces CUDA's `powif` and `powi`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::powi(3.0_f32, 4), 81.0);
/// assert_eq!(math::powi(2.0_f64, -3), 0.125);
/// ```
#[inline(always)]
pub fn powi<F: Float>(x: F, n: i32) -> F {
    F::powi(x, n)
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

/// Returns 2 to the power of `x`: less than 0.9 ulp from the exact value in `f32`, less than 1 ulp
/// in `f64`; exact if `x` is an integer.
///
/// That of a NaN is NaN, of +inf +inf, of -inf +0. A result that is too large is +inf. One that is
/// too small is rounded to a subnormal number, and finally to +0.
///
/// It is a polynomial without branches: 6 `fma.rn` in `f32` and 12 in `f64`, and some 14 other
/// instructions. It replaces CUDA's `exp2f` and `exp2`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::exp2(-3.0_f32), 0.125);
/// assert_eq!(math::exp2(10.0_f64), 1024.0);
/// ```
#[inline(always)]
pub fn exp2<F: Float>(x: F) -> F {
    F::exp2(x)
}

/// Returns e to the power of `x` with fewer instructions than [`exp`]: less than 11 ulp from the
/// exact value in `f32` from -87.3 to 88.3, and less than 4 ulp in `f64` from -708.3 to 709.4.
///
/// Below that range the result is subnormal or +0, and +0 for all that is below -88 (-709.1). Above
/// it the result is +inf, at the latest from 88.4 (709.5) on: a little too early. That of a NaN is
/// NaN, of +inf +inf, of -inf +0, of +0 and -0 exactly 1.
///
/// It is a polynomial without branches: 7 `fma.rn` and 7 other instructions in `f32`, where [`exp`]
/// has 9 and 14; 13 `fma.rn` in `f64`. It replaces CUDA's `__expf`, whose last bits a CPU can't
/// reproduce.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// let weight = math::exp_fast(-1.5_f32);
/// assert!((weight / math::exp(-1.5) - 1.0).abs() < 1e-6);
/// assert_eq!(math::exp_fast(f32::NEG_INFINITY), 0.0);
/// ```
#[inline(always)]
pub fn exp_fast<F: Float>(x: F) -> F {
    F::exp_fast(x)
}

/// Returns the natural logarithm: less than 1 ulp from the exact value.
///
/// That of a NaN or a negative number is NaN, of +0 and -0 -inf, of +inf +inf, of 1 +0. Subnormal
/// numbers have logarithms as others do.
///
/// It is a polynomial without branches, and in `f64` a division: 10 `fma.rn` in `f32`; 8 and
/// `div.rn` in `f64`. It replaces CUDA's `logf` and `log`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::log(core::f32::consts::E), 1.0);
/// assert_eq!(math::log(0.0_f64), f64::NEG_INFINITY);
/// ```
#[inline(always)]
pub fn log<F: Float>(x: F) -> F {
    F::log(x)
}

/// Returns the logarithm to the base 2: less than 1 ulp from the exact value, which is returned if
/// `x` is a power of two.
///
/// That of a NaN or a negative number is NaN, of +0 and -0 -inf, of +inf +inf, of 1 +0. Subnormal
/// numbers have logarithms as others do.
///
/// It is a polynomial without branches, and in `f64` a division: 10 `fma.rn` in `f32`; 9 and
/// `div.rn` in `f64`. It replaces CUDA's `log2f` and `log2`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::log2(0.125_f32), -3.0);
/// assert_eq!(math::log2(1024.0_f64), 10.0);
/// ```
#[inline(always)]
pub fn log2<F: Float>(x: F) -> F {
    F::log2(x)
}

/// Returns the sine of an angle in radians: less than 1.55 ulp from the exact value in `f32`, less
/// than 1.6 ulp in `f64`, for an angle of any size.
///
/// That of a NaN or an infinity is NaN, of +0 and -0 the same zero. `sin(-x)` is `-sin(x)`.
///
/// It is two polynomials, of which one is selected without a branch: 13 `fma.rn` in `f32` and 18 in
/// `f64`. From 131072 (2^17) on in `f32`, and from 2^30 on in `f64`, there is a branch, in which
/// integers are multiplied by bits of `2 / pi` that are read from a table of 152 bytes in global
/// memory. It replaces CUDA's `sinf` and `sin`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::sin(core::f32::consts::FRAC_PI_6), 0.5);
/// assert_eq!(math::sin(1e22_f64), -0.8522008497671888);
/// ```
#[inline(always)]
pub fn sin<F: Float>(x: F) -> F {
    F::sin(x)
}

/// Returns the cosine of an angle in radians: less than 1.55 ulp from the exact value in `f32`,
/// less than 1.6 ulp in `f64`, for an angle of any size.
///
/// That of a NaN or an infinity is NaN, of +0 and -0 1. `cos(-x)` is `cos(x)`.
///
/// It costs what [`sin`] costs. It replaces CUDA's `cosf` and `cos`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::cos(0.0_f32), 1.0);
/// assert_eq!(math::cos(-core::f64::consts::PI), -1.0);
/// ```
#[inline(always)]
pub fn cos<F: Float>(x: F) -> F {
    F::cos(x)
}

/// Returns the hyperbolic tangent: less than 1.6 ulp from the exact value in `f32`, less than 2 ulp
/// in `f64`. It is never greater than 1 nor less than -1.
///
/// That of a NaN is NaN, of +0 and -0 the same zero, of +inf and -inf 1 and -1. `tanh(-x)` is
/// `-tanh(x)`.
///
/// It is two polynomials, of which one is selected without a branch, and a reciprocal: 15 `fma.rn`
/// in `f32` and 27 in `f64`, and `rcp.rn`. It replaces CUDA's `tanhf` and `tanh`.
///
/// # Examples
///
/// ```
/// use tilepipe::math;
///
/// assert_eq!(math::tanh(100.0_f32), 1.0);
/// assert_eq!(math::tanh(-0.5_f64), -0.46211715726000973);
/// ```
#[inline(always)]
pub fn tanh<F: Float>(x: F) -> F {
    F::tanh(x)
}
