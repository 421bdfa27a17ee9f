//! One instruction each.

use crate::isa;

/// What a float has of this.
pub trait Arithmetic: Sized {
    fn fma(a: Self, b: Self, c: Self) -> Self;
    fn sqrt(x: Self) -> Self;
    fn min(a: Self, b: Self) -> Self;
    fn max(a: Self, b: Self) -> Self;
    fn abs(x: Self) -> Self;
}

macro_rules! arithmetic {
    ($float:ident: $fma:ident $sqrt:ident $min:ident $max:ident) => {
        impl Arithmetic for $float {
            #[inline(always)]
            fn fma(a: Self, b: Self, c: Self) -> Self {
                isa::$fma(a, b, c)
            }

            #[inline(always)]
            fn sqrt(x: Self) -> Self {
                isa::$sqrt(x)
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

arithmetic!(f32: fma_f32 sqrt_f32 min_f32 max_f32);
arithmetic!(f64: fma_f64 sqrt_f64 min_f64 max_f64);
