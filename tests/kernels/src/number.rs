//! The arithmetic of these kernels.
//!
//! It is a part of what `tilepipe_kernels::compute` has: with that crate as a dependency, a build
//! for the GPU would compile all of its kernels a second time.

use tilepipe::{Element, I32x4, Vec4};
use tilepipe_kernel_elements::Complex;

/// Elements with the arithmetic that these kernels need; integers wrap, and the parts of vectors
/// and complex numbers are computed one by one.
pub trait Number: Element {
    /// Three times the number.
    fn triple(self) -> Self;
    /// The sum of both.
    fn plus(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($integer:ty),*) => {$(
        impl Number for $integer {
            #[inline(always)]
            fn triple(self) -> Self {
                self.wrapping_mul(3)
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    )*};
}
integers!(u8, i32, u32, i64);

macro_rules! floats {
    ($($float:ty),*) => {$(
        impl Number for $float {
            #[inline(always)]
            fn triple(self) -> Self {
                3.0 * self
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
        }
    )*};
}
floats!(f32, f64);

impl Number for Complex {
    #[inline(always)]
    fn triple(self) -> Self {
        Complex { re: self.re.triple(), im: self.im.triple() }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Number for I32x4 {
    #[inline(always)]
    fn triple(self) -> Self {
        Vec4(self.0.map(i32::triple))
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Vec4([a.plus(e), b.plus(f), c.plus(g), d.plus(h)])
    }
}
