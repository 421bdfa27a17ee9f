//! Quarter turns and what is left of an angle.

use crate::isa;

/// The bits of 2 / pi behind 64 zeros, which stand for the bits before the point.
static TWO_OVER_PI: [u64; 19] = [
    0,
    0xa2f9_836e_4e44_1529,
    0xfc27_57d1_f534_ddc0,
    0xdb62_9599_3c43_9041,
    0xfe51_63ab_debb_c561,
    0xb724_6e3a_424d_d2e0,
    0x0649_2eea_09d1_921c,
    0xfe1d_eb1c_b129_a73e,
    0xe882_35f5_2ebb_4484,
    0xe99c_7026_b45f_7e41,
    0x3991_d639_8353_39f4,
    0x9c84_5f8b_bdf9_283b,
    0x1ff8_97ff_de05_980f,
    0xef2f_118b_5a0a_6d1f,
    0x6d36_7ecf_27cb_09b7,
    0x4f46_3f66_9e5f_ea2d,
    0x7527_bac7_ebe5_f17b,
    0x3d07_39f7_8a52_92ea,
    0x6bfb_5fb1_1f8d_5d08,
];

/// `COUNT` words of [`TWO_OVER_PI`] from this bit on, which is below 1024.
#[inline(always)]
fn window<const COUNT: usize>(bit: u32) -> [u64; COUNT] {
    let (word, shift) = ((bit >> 6 & 15) as usize, bit & 63);
    core::array::from_fn(|nth| {
        let (high, low) = (TWO_OVER_PI[word + nth], TWO_OVER_PI[word + nth + 1]);
        high << shift | low >> 1 >> (63 - shift)
    })
}

/// An angle: `x = quarters * pi / 2 + rest`. Of the quarter turns the low two bits count. The rest
/// is a little more than `pi / 4` at most and less than 1.1 ulp from the exact value.
pub struct Angle<F> {
    pub rest: F,
    pub quarters: u32,
}

/// The quarter turns are those that Payne and Hanek count. With an integer `m` of 32 (64) bits,
/// `|x|` is `m * 2^(e - 31)` (`e - 63`). Bits of `2 / pi` whose products with that are multiples of
/// 4 are left out; 96 (192) bits from there on are multiplied, modulo 4 quarters. What lies beyond
/// them is less than the least rest of any number of the type by a factor of 2^31 (2^63).
///
/// Where `|x|` is small, the quarters are a product with `2 / pi` that is rounded; they are then
/// subtracted after Cody and Waite, with `pi / 2` as the sum of three constants. All are positive,
/// so that -0 stays -0. The first difference is exact, and of the other two the last one only
/// rounds what is almost 0.
macro_rules! reduce {
    ($name:ident of $float:ident: $fma:ident, limit = $limit:literal,
     half_pi = [$($half_pi:expr),*], large = $large:ident) => {
        /// Returns the angle of `x`, which has no rest if `x` is not finite: that is NaN.
        #[inline(always)]
        pub fn $name(x: $float) -> Angle<$float> {
            const ROUND: $float = (3_u64 << ($float::MANTISSA_DIGITS - 2)) as $float;

            if x.abs() >= $limit {
                let Angle { rest, quarters } = $large(x);
                let (rest, quarters) = if x < 0.0 { (-rest, quarters.wrapping_neg()) } else { (rest, quarters) };
                return Angle { rest: if x.is_infinite() { $float::NAN } else { rest }, quarters };
            }
            let sum = isa::$fma(x, core::$float::consts::FRAC_2_PI, ROUND);
            let (whole, rest) = (sum - ROUND, x);
            $(let rest = isa::$fma(whole, -$half_pi, rest);)*
            Angle { rest, quarters: sum.to_bits() as u32 }
        }
    };
}

reduce!(reduce_f32 of f32: fma_f32, limit = 131_072.0,
    half_pi = [f32::from_bits(0x3fc9_0fd8), 3.139_164_7e-7, 5.390_303e-15], large = large_f32);
reduce!(reduce_f64 of f64: fma_f64, limit = 1_073_741_824.0,
    half_pi = [core::f64::consts::FRAC_PI_2, 6.123_233_995_736_765e-17, 1.082_856_673_921_914e-32], large = large_f64);

/// The angle of `|x|`, if that is at least 2^17.
#[inline(always)]
fn large_f32(x: f32) -> Angle<f32> {
    const UNIT: f64 = core::f64::consts::FRAC_PI_2 / (1_u64 << 62) as f64;

    let bits = x.to_bits();
    let exponent = (bits >> 23 & 0xff).wrapping_sub(127);
    let m = u64::from(bits << 8 | 1 << 31);
    // Bit 64 of the table has weight 1 / 2: that of `e - 33` is the first that counts.
    let [high, low] = window(exponent.wrapping_add(31));
    let (first, rest) = (high >> 32, high << 32 | low >> 32);
    let product = ((m * first) << 32).wrapping_add(((u128::from(m) * u128::from(rest)) >> 32) as u64);
    let quarters = (product.wrapping_add(1 << 61) >> 62) as u32;
    // A signed number of 2^-62 quarters.
    let part = (product << 2) as i64 >> 2;
    Angle { rest: (part as f64 * UNIT) as f32, quarters }
}

/// The angle of `|x|`, if that is at least 2^30.
#[inline(always)]
fn large_f64(x: f64) -> Angle<f64> {
    /// What one of 2^-62 quarters is, as a sum.
    const UNIT: [f64; 2] =
        [core::f64::consts::FRAC_PI_2 / (1_u64 << 62) as f64, 6.123_233_995_736_766e-17 / (1_u64 << 62) as f64];
    /// 2^-53.
    const LOWER: f64 = 1.0 / (1_u64 << 53) as f64;

    let bits = x.to_bits();
    let exponent = ((bits >> 52) as u32 & 0x7ff).wrapping_sub(1023);
    let m = u128::from(bits << 11 | 1 << 63);
    // The bit of `e - 65` is the first that counts.
    let [first, second, third] = window(exponent.wrapping_sub(1));
    let product = ((m * u128::from(first)) << 64)
        .wrapping_add(m * u128::from(second))
        .wrapping_add((m * u128::from(third)) >> 64);
    let quarters = (product.wrapping_add(1 << 125) >> 126) as u32;
    // A signed number of 2^-126 quarters.
    let part = (product << 2) as i128 >> 2;
    let size = part.unsigned_abs();
    // Two numbers, whose sum has more bits than one has; the first of them is exact.
    let (high, low) = (((size >> 75) as u64) << 11, (size >> 11) as u64);
    let (high, low) = (high as f64, low as f64 * LOWER);
    let rest = isa::fma_f64(high, UNIT[0], isa::fma_f64(low, UNIT[0], high * UNIT[1]));
    Angle { rest: if part < 0 { -rest } else { rest }, quarters }
}
