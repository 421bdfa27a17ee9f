//! Logarithms.

use crate::isa;

/// What a float has of this.
pub trait Logarithm: Sized {
    fn log(x: Self) -> Self;
    fn log2(x: Self) -> Self;
}

/// What both types have in common.
///
/// A number is `2^k * (1 + f)` with `1 + f` from `sqrt(1 / 2)` to `sqrt(2)`, so that neither sum of
/// `k` and a logarithm of `1 + f` cancels. Taking the root's bits off the number's leaves `k` above
/// the fraction. Subnormal numbers are scaled to normal ones first.
macro_rules! reduced {
    ($float:ident as $bits:ident and $signed:ident) => {
        /// Returns `k` and `f` of a positive finite number, and something of another.
        #[inline(always)]
        fn reduced(x: $float) -> ($float, $float) {
            const FRACTION_BITS: u32 = $float::MANTISSA_DIGITS - 1;
            const ROOT: $bits = core::$float::consts::FRAC_1_SQRT_2.to_bits();
            const SCALE: $float = (1_u64 << FRACTION_BITS) as $float;

            let is_small = x < $float::MIN_POSITIVE;
            let bits = if is_small { x * SCALE } else { x }.to_bits();
            let k = (bits.wrapping_sub(ROOT) as $signed) >> FRACTION_BITS;
            let f = $float::from_bits(bits.wrapping_sub((k as $bits) << FRACTION_BITS)) - 1.0;
            let scaled = if is_small { FRACTION_BITS as $signed } else { 0 };
            ((k - scaled) as i32 as $float, f)
        }

        /// Returns the logarithm of `x`, which is `finite` if `x` is positive and finite.
        #[inline(always)]
        fn with_limits(x: $float, finite: $float) -> $float {
            if x > 0.0 && x < $float::INFINITY {
                finite
            } else if x == 0.0 {
                $float::NEG_INFINITY
            } else if x < 0.0 {
                $float::NAN
            } else {
                x
            }
        }
    };
}

/// `f32`: a polynomial in `f`.
///
/// Its coefficients from f^2 on are those with the least maximum relative error over the range of
/// `f` (Remez): each is rounded in turn, and the others are then fitted again. That error is
/// 2^-26.4 for `log` and 2^-27 for `log2`.
mod single {
    use super::{Logarithm, isa};

    reduced!(f32 as u32 and i32);

    impl Logarithm for f32 {
        #[inline(always)]
        fn log(x: f32) -> f32 {
            let (k, f) = reduced(x);
            #[rustfmt::skip]
            let rest = horner!(isa::fma_f32, f,
                -0.499_999_88, 0.333_333_25, -0.250_015_62, 0.200_016_07, -0.166_086_29, 0.141_846_82, -0.132_527_7,
                0.129_166_32, -0.076_221_086);
            let small = isa::fma_f32(f * f, rest, f);
            with_limits(x, isa::fma_f32(k, core::f32::consts::LN_2, small))
        }

        #[inline(always)]
        fn log2(x: f32) -> f32 {
            /// What the constant is too small by.
            const LOG2_E_LOW: f32 = 1.925_963e-8;

            let (k, f) = reduced(x);
            #[rustfmt::skip]
            let rest = horner!(isa::fma_f32, f,
                LOG2_E_LOW, -0.721_347_33, 0.480_898_2, -0.360_697_75, 0.288_570_46, -0.239_616_87, 0.204_558_85,
                -0.190_886_57, 0.186_285_69, -0.110_722_55);
            with_limits(x, k + isa::fma_f32(f, core::f32::consts::LOG2_E, f * rest))
        }
    }
}

/// `f64`: with `s = f / (2 + f)` the logarithm is that of `(1 + s) / (1 - s)`, an odd series in `s`
/// that converges faster than one in `f`.
///
/// It is `2 * s + s * rest`, and `2 * s` is `f - s * f`, written as in fdlibm's `e_log.c`:
/// with `half = f * f / 2` the sum is `f - (half - s * (half + rest))`, where only small terms are
/// rounded. The polynomial of `rest` has the least maximum error relative to the logarithm (Remez,
/// coefficients rounded in turn): 2^-59.5.
mod double {
    use super::{Logarithm, isa};

    reduced!(f64 as u64 and i64);

    /// Returns `s`, `half` and `half + rest`.
    #[inline(always)]
    fn series(f: f64) -> (f64, f64, f64) {
        let s = f / (2.0 + f);
        let square = s * s;
        #[rustfmt::skip]
        let rest = square * horner!(isa::fma_f64, square,
            0.666_666_666_666_673_4, 0.399_999_999_994_170_46, 0.285_714_287_418_924_9, 0.222_221_986_216_628_14,
            0.181_835_619_022_938_82, 0.153_141_105_251_289_66, 0.147_953_672_380_965_32);
        let half = 0.5 * f * f;
        (s, half, half + rest)
    }

    impl Logarithm for f64 {
        #[inline(always)]
        fn log(x: f64) -> f64 {
            /// The sum of both is ln(2); the first has so few bits that `k` times it is exact.
            const LN_2: [f64; 2] = [0.693_147_180_560_117_7, -1.723_944_452_561_483_5e-13];

            let (k, f) = reduced(x);
            let (s, half, sum) = series(f);
            let small = f - (half - isa::fma_f64(s, sum, k * LN_2[1]));
            with_limits(x, isa::fma_f64(k, LN_2[0], small))
        }

        #[inline(always)]
        fn log2(x: f64) -> f64 {
            use core::f64::consts::LOG2_E;
            /// What the constant is too small by.
            const LOG2_E_LOW: f64 = 2.035_527_374_093_103_3e-17;

            let (k, f) = reduced(x);
            let (s, half, sum) = series(f);
            // The natural logarithm, its product with the constant and the sum with `k` are each a
            // number and what rounding has left of it.
            let high = f - half;
            let low = isa::fma_f64(s, sum, (f - high) - half);
            let product = high * LOG2_E;
            let rest = isa::fma_f64(high, LOG2_E, -product) + isa::fma_f64(low, LOG2_E, high * LOG2_E_LOW);
            let whole = k + product;
            with_limits(x, whole + (rest + ((k - whole) + product)))
        }
    }
}
