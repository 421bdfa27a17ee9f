//! The arithmetic of the kernels.

use tilepipe::{Element, Vec4, bf16, f16};

use crate::Complex;

/// Elements with the arithmetic that the kernels need; integers wrap, vectors work lane by lane.
pub trait Number: Element {
    /// Zero.
    const ZERO: Self;
    /// Whether a sum is the same in any order.
    const IN_ANY_ORDER: bool = false;
    /// Three times the number.
    fn triple(self) -> Self;
    /// The sum of both.
    fn plus(self, other: Self) -> Self;
    /// The product of both.
    fn times(self, other: Self) -> Self;
    /// The mean of `count` numbers of which this is the sum: integers divide and truncate, floats
    /// multiply by the rounded reciprocal of `count`.
    fn mean_of(self, count: u16) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Number for $integer {
            const ZERO: Self = 0;
            const IN_ANY_ORDER: bool = true;
            #[inline(always)]
            fn triple(self) -> Self {
                self.wrapping_mul(3)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn mean_of(self, count: u16) -> Self {
                self.wrapping_div(count as $integer)
            }
        }
    )*};
}
integers!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128);

macro_rules! floats {
    ($($float:ty),*) => {$(
        impl Number for $float {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn triple(self) -> Self {
                3.0 * self
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn mean_of(self, count: u16) -> Self {
                self * (1.0 / <$float>::from(count))
            }
        }
    )*};
}
floats!(f32, f64);

/// Half-precision floats are computed in `f32`, and each result is rounded.
macro_rules! half_floats {
    ($($half:ty),*) => {$(
        impl Number for $half {
            const ZERO: Self = <$half>::ZERO;
            #[inline(always)]
            fn triple(self) -> Self {
                Self::from_f32(3.0 * self.to_f32())
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() + other.to_f32())
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Self::from_f32(self.to_f32() * other.to_f32())
            }
            #[inline(always)]
            fn mean_of(self, count: u16) -> Self {
                Self::from_f32(self.to_f32() * (1.0 / f32::from(count)))
            }
        }
    )*};
}
half_floats!(f16, bf16);

impl Number for Complex {
    const ZERO: Self = Complex { re: 0.0, im: 0.0 };

    #[inline(always)]
    fn triple(self) -> Self {
        Complex { re: self.re.triple(), im: self.im.triple() }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let (re, im) = (self.re * other.re, self.re * other.im);
        Complex { re: re - self.im * other.im, im: im + self.im * other.re }
    }

    #[inline(always)]
    fn mean_of(self, count: u16) -> Self {
        Complex { re: self.re.mean_of(count), im: self.im.mean_of(count) }
    }
}

/// Three numbers in a row, lane by lane: 12 bytes for a `f32`, of which 4 are copied at a time if a
/// tile is not a multiple of 16.
impl<T: Number> Number for [T; 3] {
    const ZERO: Self = [T::ZERO; 3];

    #[inline(always)]
    fn triple(self) -> Self {
        self.map(T::triple)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self, other);
        [a.plus(d), b.plus(e), c.plus(f)]
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self, other);
        [a.times(d), b.times(e), c.times(f)]
    }

    #[inline(always)]
    fn mean_of(self, count: u16) -> Self {
        self.map(|lane| lane.mean_of(count))
    }
}

impl<T: Number> Number for Vec4<T>
where
    Vec4<T>: Element,
{
    const ZERO: Self = Vec4([T::ZERO; 4]);

    #[inline(always)]
    fn triple(self) -> Self {
        Vec4(self.0.map(T::triple))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Vec4([a.plus(e), b.plus(f), c.plus(g), d.plus(h)])
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Vec4([a.times(e), b.times(f), c.times(g), d.times(h)])
    }

    #[inline(always)]
    fn mean_of(self, count: u16) -> Self {
        Vec4(self.0.map(|lane| lane.mean_of(count)))
    }
}
