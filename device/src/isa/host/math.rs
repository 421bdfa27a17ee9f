//! The model of the floating-point instructions, and of one of bytes. Each is exact or rounded
//! once, so there is one right result.

macro_rules! float_instructions {
    ($float:ty: $fma:ident $sqrt:ident $min:ident $max:ident $floor:ident $trunc:ident $nearest:ident) => {
        /// `fma.rn`: `a * b + c`, rounded once, to nearest even (`mul_add` guarantees that result).
        #[inline]
        pub(crate) fn $fma(a: $float, b: $float, c: $float) -> $float {
            a.mul_add(b, c)
        }

        /// `sqrt.rn`: the square root, rounded to nearest even (`sqrt` guarantees that result).
        #[inline]
        pub(crate) fn $sqrt(x: $float) -> $float {
            x.sqrt()
        }

        /// `min`: the lesser operand, or the other one if one is NaN; -0 is less than +0.
        #[inline]
        pub(crate) fn $min(a: $float, b: $float) -> $float {
            if a == b {
                // The same number twice, or two zeros: their signs are or'ed.
                <$float>::from_bits(a.to_bits() | b.to_bits())
            } else if a < b || b.is_nan() {
                a
            } else {
                b
            }
        }

        /// `max`: the greater operand, or the other one if one is NaN; +0 is greater than -0.
        #[inline]
        pub(crate) fn $max(a: $float, b: $float) -> $float {
            if a == b {
                <$float>::from_bits(a.to_bits() & b.to_bits())
            } else if a > b || b.is_nan() {
                a
            } else {
                b
            }
        }

        /// `cvt.rmi`: the greatest integer that is not greater.
        #[inline]
        pub(crate) fn $floor(x: $float) -> $float {
            x.floor()
        }

        /// `cvt.rzi`: the integer toward zero.
        #[inline]
        pub(crate) fn $trunc(x: $float) -> $float {
            x.trunc()
        }

        /// `cvt.rni`: the nearest integer, the even one of two.
        #[inline]
        pub(crate) fn $nearest(x: $float) -> $float {
            x.round_ties_even()
        }
    };
}

float_instructions!(f32: fma_f32 sqrt_f32 min_f32 max_f32 floor_f32 trunc_f32 nearest_f32);
float_instructions!(f64: fma_f64 sqrt_f64 min_f64 max_f64 floor_f64 trunc_f64 nearest_f64);

/// `prmt.b32`: the four bytes that the selector's four lowest digits of 16 name, of the eight of
/// `low` and `high`; a digit of 8 or more is none that tilepipe uses.
#[inline]
pub(crate) fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    let bytes = (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    u32::from_le_bytes(core::array::from_fn(|nth| bytes[(selector >> (4 * nth) & 7) as usize]))
}

/// What the conversion to 16 bits makes of whatever is no number (PTX "cvt").
const NOT_A_NUMBER: u32 = 0x7FFF;

/// `cvt.rn.bf16x2.f32`: two numbers rounded to nearest even, the first in the low half.
pub(crate) fn rounded_bf16(pair: [f32; 2]) -> u32 {
    halves(pair, |x| half::bf16::from_f32(x).to_bits())
}

/// `cvt.rn.f16x2.f32`: two numbers rounded to nearest even, the first in the low half.
pub(crate) fn rounded_f16(pair: [f32; 2]) -> u32 {
    halves(pair, |x| half::f16::from_f32(x).to_bits())
}

/// 2 to the power of a number, as exactly as the host computes it. Subnormal powers are 0.
pub(crate) fn exp2_approximate(x: f32) -> f32 {
    let power = x.exp2();
    if power.is_subnormal() { 0.0 } else { power }
}

/// 1 divided by a number, as exactly as the host computes it. Subnormal numbers are 0.
pub(crate) fn reciprocal_approximate(x: f32) -> f32 {
    let flushed = |x: f32| if x.is_subnormal() { 0.0_f32.copysign(x) } else { x };
    flushed(1.0 / flushed(x))
}

/// `cvt.f32.f16`: the same number.
pub(crate) fn widened_f16(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

fn halves(pair: [f32; 2], round: impl Fn(f32) -> u16) -> u32 {
    let [low, high] = pair.map(|x| if x.is_nan() { NOT_A_NUMBER } else { u32::from(round(x)) });
    low | high << 16
}
