//! Element types as the runner sees them: lanes of plain numbers with the arithmetic of the
//! references.
//!
//! The arithmetic is written here on its own: a reference that called the kernels' would excuse
//! their mistakes.

use std::fmt::Debug;

use tilepipe::{Element, Vec4, bf16, f16};
use tilepipe_kernel_elements::Complex;

pub use crate::dtype::DType;

/// A number: one lane of an element.
pub trait Scalar: Copy + Debug + Send + Sync + PartialEq + 'static {
    /// Zero, which stands for every element beyond the ends of the data.
    const ZERO: Self;

    /// Makes a number from 64 random bits. Integers use their whole range, floats lie between -1000
    /// and 1000.
    fn generate(bits: u64) -> Self;

    /// Three times the number; integers wrap.
    fn triple(self) -> Self;

    /// The sum of two numbers; integers wrap.
    fn plus(self, other: Self) -> Self;

    /// The product of two numbers; integers wrap.
    fn times(self, other: Self) -> Self;

    /// A sum over the window divided by its size: integers truncate, floats multiply by the rounded
    /// reciprocal.
    fn mean_of_window(sum: Self, taps: u16) -> Self;

    /// Three quarters of the number and `other`: floats round once, integers truncate and wrap.
    fn three_quarters_plus(self, other: Self) -> Self;

    /// The product of the number and `factor`, and `sum`: floats round once, integers wrap.
    fn times_plus(self, factor: Self, sum: Self) -> Self;

    /// A whole number.
    fn whole(number: u8) -> Self;

    /// Whether both are the same bits, or both are NaN.
    fn same(self, other: Self) -> bool;

    /// `3 * own + next`; integers wrap, floats round after the product and after the sum.
    fn neighbour_sum(own: Self, next: Self) -> Self {
        own.triple().plus(next)
    }
}

/// An element: plain data that kernels take, seen as [`Scalar`] lanes.
pub trait Value: Element + Copy + Debug + Send + Sync {
    /// The type of each lane.
    type Lane: Scalar;

    /// This type's name.
    const DTYPE: DType;

    /// Makes an element from its lanes; lane indices run from 0 to [`DType::lanes`].
    fn from_lanes(lane: impl FnMut(usize) -> Self::Lane) -> Self;

    /// Returns lane `index`.
    ///
    /// # Panics
    ///
    /// If the element has no such lane.
    fn lane(&self, index: usize) -> Self::Lane;

    /// Zero in every lane.
    fn zero() -> Self {
        Self::from_lanes(|_| Self::Lane::ZERO)
    }

    /// Three times the element.
    fn triple(&self) -> Self {
        Self::from_lanes(|lane| self.lane(lane).triple())
    }

    /// The sum of both.
    fn plus(self, other: Self) -> Self {
        Self::from_lanes(|lane| self.lane(lane).plus(other.lane(lane)))
    }

    /// The product of both: lane by lane, except for complex numbers.
    fn times(self, other: Self) -> Self {
        Self::from_lanes(|lane| self.lane(lane).times(other.lane(lane)))
    }

    /// Whether all lanes are the same bits, or NaN in both.
    fn same(&self, other: &Self) -> bool {
        (0..Self::DTYPE.lanes()).all(|lane| self.lane(lane).same(other.lane(lane)))
    }

    /// The element as text: `7`, or `[1, 2, 3, 4]`.
    fn text(&self) -> String {
        let lanes: Vec<String> = (0..Self::DTYPE.lanes()).map(|lane| format!("{:?}", self.lane(lane))).collect();
        if lanes.len() == 1 { lanes.concat() } else { format!("[{}]", lanes.join(", ")) }
    }
}

macro_rules! integers {
    ($($number:ty),*) => {$(
        impl Scalar for $number {
            const ZERO: Self = 0;

            fn generate(bits: u64) -> Self {
                // The upper half of a random product is the better one; 128 bits need both.
                let wide = u128::from(bits) << 64 | u128::from(!bits.rotate_left(29));
                (wide >> (128 - <$number>::BITS)) as $number
            }

            fn triple(self) -> Self {
                self.wrapping_mul(3)
            }

            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }

            fn mean_of_window(sum: Self, taps: u16) -> Self {
                sum / taps as $number
            }

            fn three_quarters_plus(self, other: Self) -> Self {
                self.wrapping_sub(self / 4).wrapping_add(other)
            }

            fn times_plus(self, factor: Self, sum: Self) -> Self {
                self.wrapping_mul(factor).wrapping_add(sum)
            }

            fn whole(number: u8) -> Self {
                number as $number
            }

            fn same(self, other: Self) -> bool {
                self == other
            }
        }
    )*};
}

/// The number of the unit interval that 64 random bits make, stretched to -1000 to 1000.
fn around_zero(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1u64 << 53) as f64 * 2000.0 - 1000.0
}

macro_rules! floats {
    ($($number:ty),*) => {$(
        impl Scalar for $number {
            const ZERO: Self = 0.0;

            fn generate(bits: u64) -> Self {
                around_zero(bits) as $number
            }

            fn triple(self) -> Self {
                self * 3.0
            }

            fn plus(self, other: Self) -> Self {
                self + other
            }

            fn times(self, other: Self) -> Self {
                self * other
            }

            fn mean_of_window(sum: Self, taps: u16) -> Self {
                let reciprocal = 1.0 / <$number>::from(taps);
                sum * reciprocal
            }

            fn three_quarters_plus(self, other: Self) -> Self {
                self.mul_add(0.75, other)
            }

            fn times_plus(self, factor: Self, sum: Self) -> Self {
                self.mul_add(factor, sum)
            }

            fn whole(number: u8) -> Self {
                number.into()
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}

/// Half-precision floats are computed in `f32`, and each result is rounded.
macro_rules! half_floats {
    ($($number:ty),*) => {$(
        impl Scalar for $number {
            const ZERO: Self = <$number>::from_bits(0);

            fn generate(bits: u64) -> Self {
                <$number>::from_f64(around_zero(bits))
            }

            fn triple(self) -> Self {
                <$number>::from_f32(Scalar::triple(f32::from(self)))
            }

            fn plus(self, other: Self) -> Self {
                <$number>::from_f32(f32::from(self) + f32::from(other))
            }

            fn times(self, other: Self) -> Self {
                <$number>::from_f32(f32::from(self) * f32::from(other))
            }

            fn mean_of_window(sum: Self, taps: u16) -> Self {
                <$number>::from_f32(f32::mean_of_window(sum.into(), taps))
            }

            fn three_quarters_plus(self, other: Self) -> Self {
                <$number>::from_f64(self.to_f64().mul_add(0.75, other.to_f64()))
            }

            fn times_plus(self, factor: Self, sum: Self) -> Self {
                <$number>::from_f64(self.to_f64().mul_add(factor.to_f64(), sum.to_f64()))
            }

            fn whole(number: u8) -> Self {
                <$number>::from_f32(number.into())
            }

            fn same(self, other: Self) -> bool {
                self.to_bits() == other.to_bits() || (self.is_nan() && other.is_nan())
            }
        }
    )*};
}

integers!(u8, i8, u16, i16, i32, u32, i64, u64, i128, u128);
floats!(f32, f64);
half_floats!(f16, bf16);

macro_rules! numbers {
    ($($number:ty => $dtype:ident;)*) => {$(
        impl Value for $number {
            type Lane = $number;
            const DTYPE: DType = DType::$dtype;

            fn from_lanes(mut lane: impl FnMut(usize) -> $number) -> Self {
                lane(0)
            }

            fn lane(&self, index: usize) -> $number {
                [*self][index]
            }
        }
    )*};
}
numbers! {
    u8 => U8; i8 => I8; u16 => U16; i16 => I16; i32 => I32; u32 => U32; i64 => I64; u64 => U64; i128 => I128;
    u128 => U128; f16 => F16; bf16 => BF16; f32 => F32; f64 => F64;
}

macro_rules! vectors {
    ($($number:ty => $dtype:ident;)*) => {$(
        impl Value for Vec4<$number> {
            type Lane = $number;
            const DTYPE: DType = DType::$dtype;

            fn from_lanes(lane: impl FnMut(usize) -> $number) -> Self {
                Vec4(std::array::from_fn(lane))
            }

            fn lane(&self, index: usize) -> $number {
                self.0[index]
            }
        }
    )*};
}
vectors! { i32 => I32x4; u32 => U32x4; f32 => F32x4; }

impl Value for [f32; 3] {
    type Lane = f32;
    const DTYPE: DType = DType::Float3;

    fn from_lanes(lane: impl FnMut(usize) -> f32) -> Self {
        std::array::from_fn(lane)
    }

    fn lane(&self, index: usize) -> f32 {
        self[index]
    }
}

/// Lane 0 is the real part, lane 1 the imaginary one.
impl Value for Complex {
    type Lane = f32;
    const DTYPE: DType = DType::Complex;

    fn from_lanes(mut lane: impl FnMut(usize) -> f32) -> Self {
        Complex { re: lane(0), im: lane(1) }
    }

    fn lane(&self, index: usize) -> f32 {
        [self.re, self.im][index]
    }

    fn times(self, other: Self) -> Self {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sameness_is_by_bits_but_for_nan() {
        assert!(!Scalar::same(0.0f32, -0.0));
        assert!(Scalar::same(f32::NAN, f32::from_bits(0x7fc0_1234)));
        assert!(!Scalar::same(f64::NAN, 1.0));
        assert!(Scalar::same(f16::NAN, f16::from_bits(0x7e01)));
        assert!(!Vec4([1, 2, 3, 4]).same(&Vec4([1, 2, 3, 5])));
    }

    #[test]
    fn integers_wrap_and_use_their_whole_range() {
        assert_eq!((Scalar::triple(100_u8), Scalar::plus(200_u8, 100), Scalar::times(-100_i8, 3)), (44, 44, -44));
        assert_eq!(<u8 as Scalar>::generate(u64::MAX), 255);
        assert_eq!(<i128 as Scalar>::generate(1 << 63), i128::MIN | i128::from(!(1_u64 << 28)));
    }

    #[test]
    fn half_floats_round_after_the_product_and_after_the_sum() {
        // Halves are 2 apart below 4096 and 4 above, and ties go to the even one: 4095 rounds up,
        // 4099 to 4100, but 4098 to 4096.
        let (own, next) = (f16::from_f32(1365.0), f16::from_f32(3.0));
        assert_eq!(Scalar::triple(own), f16::from_f32(4096.0));
        assert_eq!(Scalar::neighbour_sum(own, next), f16::from_f32(4100.0), "rounded once it would be 4096");
        assert_eq!(Scalar::neighbour_sum(bf16::from_f32(1.0), bf16::from_f32(0.001)), bf16::from_f32(3.0));
    }

    #[test]
    fn a_product_of_complex_numbers_is_no_product_of_lanes() {
        let (i, two) = (Complex { re: 0.0, im: 1.0 }, Complex { re: 2.0, im: 0.0 });
        assert_eq!(i.times(i), Complex { re: -1.0, im: 0.0 });
        assert_eq!(i.times(two), Complex { re: 0.0, im: 2.0 });
        assert_eq!([1.0, 2.0, 3.0_f32].times([4.0, 5.0, 6.0]), [4.0, 10.0, 18.0]);
    }
}
