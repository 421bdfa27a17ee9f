//! Exponential functions.

use crate::isa;

/// What a float has of this.
pub trait Exponential: Sized {
    fn exp(x: Self) -> Self;
    fn exp2(x: Self) -> Self;
    fn exp_fast(x: Self) -> Self;
    fn tanh(x: Self) -> Self;
}

/// The functions of one type.
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
///
/// `exp2` is the same with `x = k + r`, which is exact. `exp_fast` adds the exponent's bias to
/// `ROUND`, so that a shift makes `2^k` of the sum; its range is cut where that becomes 0 and +inf.
///
/// `tanh` is `1 - 2 / (e^(2 * |x|) + 1)` from the border on and an odd polynomial below, both with
/// the sign of `x`.
macro_rules! exponential {
    ($float:ident as $bits:ident, $fma:ident $min:ident $max:ident,
     exp from $least:literal to $greatest:literal, ln_2 = $high:literal + $low:literal, $exp:tt,
     exp2 from $least_2:literal to $greatest_2:literal, $exp2:tt,
     fast from $least_fast:literal to $greatest_fast:literal, ln_2 = [$($part:expr),*], $fast:tt,
     tanh to $end:literal, border = $border:literal, $tanh:tt) => {
        impl Exponential for $float {
            #[inline(always)]
            fn exp(x: Self) -> Self {
                let number = isa::$min(isa::$max(x, $least), $greatest);
                let sum = isa::$fma(number, core::$float::consts::LOG2_E, Self::ROUND);
                let k = Self::integer(sum);
                let power = Self::power(number, sum - Self::ROUND);
                let half = k >> 1;
                let result = power * Self::power_of_two(half) * Self::power_of_two(k - half);
                if x.is_nan() { x } else { result }
            }

            #[inline(always)]
            fn exp2(x: Self) -> Self {
                let number = isa::$min(isa::$max(x, $least_2), $greatest_2);
                let sum = number + Self::ROUND;
                let k = Self::integer(sum);
                let r = number - (sum - Self::ROUND);
                let power = exponential!(polynomial isa::$fma, r, $exp2);
                let half = k >> 1;
                let result = power * Self::power_of_two(half) * Self::power_of_two(k - half);
                if x.is_nan() { x } else { result }
            }

            #[inline(always)]
            fn exp_fast(x: Self) -> Self {
                const ROUND: $float = $float::ROUND + $float::BIAS as $float;

                let number = isa::$min(isa::$max(x, $least_fast), $greatest_fast);
                let sum = isa::$fma(number, core::$float::consts::LOG2_E, ROUND);
                let (whole, r) = (sum - ROUND, number);
                $(let r = isa::$fma(whole, -$part, r);)*
                let power = exponential!(polynomial isa::$fma, r, $fast);
                let result = power * $float::from_bits(sum.to_bits() << Self::FRACTION_BITS);
                if x.is_nan() { x } else { result }
            }

            #[inline(always)]
            fn tanh(x: Self) -> Self {
                let size = x.abs();
                let twice = isa::$min(size + size, $end);
                let sum = isa::$fma(twice, core::$float::consts::LOG2_E, Self::ROUND);
                let power = Self::power(twice, sum - Self::ROUND) * Self::power_of_two(Self::integer(sum));
                let large = isa::$fma(-2.0, 1.0 / (power + 1.0), 1.0);
                let square = size * size;
                let small = isa::$fma(size * square, exponential!(polynomial isa::$fma, square, $tanh), size);
                // A NaN is not at the border or above it, and stays a NaN in the polynomial.
                let result = if size >= $border { large } else { small };
                result.copysign(x)
            }
        }

        impl Parts for $float {
            const FRACTION_BITS: u32 = $float::MANTISSA_DIGITS - 1;
            const BIAS: i32 = $float::MAX_EXP - 1;
            const ROUND: $float = (3_u64 << ($float::MANTISSA_DIGITS - 2)) as $float;

            #[inline(always)]
            fn integer(sum: $float) -> i32 {
                (sum.to_bits() as i32).wrapping_sub(Self::ROUND.to_bits() as i32)
            }

            #[inline(always)]
            fn power_of_two(k: i32) -> $float {
                $float::from_bits(((k + Self::BIAS) as $bits) << Self::FRACTION_BITS)
            }

            #[inline(always)]
            fn power(number: $float, whole: $float) -> $float {
                let r = isa::$fma(whole, -$high, number);
                let r = isa::$fma(whole, -$low, r);
                exponential!(polynomial isa::$fma, r, $exp)
            }
        }
    };
    (polynomial $fma:path, $r:ident, [$($coefficient:expr),*]) => { horner!($fma, $r, $($coefficient),*) };
}

/// What the functions above are made of.
trait Parts: Sized {
    const FRACTION_BITS: u32;
    const BIAS: i32;
    const ROUND: Self;

    /// The integer that was rounded to when `ROUND` was added.
    fn integer(sum: Self) -> i32;

    /// 2 to the power of `k`, which is the exponent of a normal number.
    fn power_of_two(k: i32) -> Self;

    /// e to the power of `number - whole * ln(2)`.
    fn power(number: Self, whole: Self) -> Self;
}

// Each polynomial's coefficients have the least maximum relative error (Remez): each is rounded in
// turn, and the others are then fitted again.
//
// - `exp` begins with 1 + r, over |r| <= 1.0001 * ln(2) / 2: 2^-28.2 in `f32` and 2^-61.7 in `f64`.
// - `exp2` begins with 1, over |r| <= 1 / 2: 2^-27.5 and 2^-59.
// - `exp_fast` begins with 1, over the range of `exp`: 2^-21.1 and 2^-51.6.
// - `tanh` is `x` and `x^3` times one in `x^2`, over 0 <= x <= 0.55: 2^-29.7 and 2^-60.6.
exponential!(f32 as u32, fma_f32 min_f32 max_f32,
    exp from -104.0 to 89.0, ln_2 = 0.693_145_75 + 1.428_606_8e-6,
    [1.0, 1.0, 0.499_999_94, 0.166_665_17, 0.041_668_102, 0.008_369_192_5, 0.001_383_890_2],
    exp2 from -151.0 to 129.0,
    [1.0, 0.693_147_24, 0.240_226_55, 0.055_502_724, 0.009_617_063, 0.001_341_820_2, 0.000_158_205_31],
    fast from -88.0 to 88.5, ln_2 = [core::f32::consts::LN_2],
    [1.0, 0.999_993_74, 0.499_993_77, 0.166_875_87, 0.041_874_74, 0.006_954_373],
    tanh to 20.0, border = 0.55,
    [-0.333_333_16, 0.133_325_44, -0.053_847_548, 0.021_050_714, -0.006_242_849_4]);
exponential!(f64 as u64, fma_f64 min_f64 max_f64,
    exp from -746.0 to 710.0, ln_2 = 0.693_147_180_560_117_7 + -1.723_944_452_561_483_5e-13,
    [1.0, 1.0, 0.5, 0.166_666_666_666_666_88, 0.041_666_666_666_666_824, 0.008_333_333_333_313_899,
        0.001_388_888_888_877_790_8, 0.000_198_412_699_033_251_42, 2.480_158_755_863_782_7e-5,
        2.755_722_846_872_255_6e-6, 2.755_706_635_167_517e-7, 2.511_417_363_044_943_3e-8, 2.097_985_066_055_192e-9],
    exp2 from -1076.0 to 1025.0,
    [1.0, core::f64::consts::LN_2, 0.240_226_506_959_100_7, 0.055_504_108_664_823_38, 0.009_618_129_107_630_229,
        0.001_333_355_814_603_338_2, 0.000_154_035_303_888_895_02, 1.525_273_416_644_222_2e-5,
        1.321_549_133_777_750_3e-6, 1.017_793_283_881_231_6e-7, 7.052_942_312_079_69e-9, 4.473_176_665_451_974e-10,
        2.874_904_506_142_762_7e-11],
    fast from -709.0 to 709.6, ln_2 = [0.693_147_180_560_117_7, -1.723_944_452_561_483_5e-13],
    [1.0, 1.000_000_000_000_009, 0.500_000_000_000_008_3, 0.166_666_666_665_241_35, 0.041_666_666_665_601_14,
        0.008_333_333_395_759_833, 0.001_388_888_925_124_516_5, 0.000_198_411_581_230_856_72,
        2.480_112_543_622_115e-5, 2.764_497_356_262_917_4e-6, 2.777_440_041_738_193_3e-7],
    tanh to 44.0, border = 0.55,
    [-0.333_333_333_333_333, 0.133_333_333_333_265_8, -0.053_968_253_963_736_6, 0.021_869_488_385_152_732,
        -0.008_863_232_589_636_88, 0.003_592_091_908_197_006, -0.001_455_542_038_900_306,
        0.000_588_441_084_464_122_9, -0.000_233_372_700_088_086_27, 8.330_344_019_793_543e-5,
        -1.948_647_240_776_217_3e-5]);
