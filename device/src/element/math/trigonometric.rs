//! Functions of an angle.

use super::reduction::{Angle, reduce_f32, reduce_f64};
use crate::isa;

/// What a float has of this.
pub trait Trigonometric: Sized {
    fn sin(x: Self) -> Self;
    fn cos(x: Self) -> Self;
}

macro_rules! trigonometric {
    ($float:ident as $bits:ident: $fma:ident $reduce:ident,
     sin = [$($sin:literal),*], cos = [$($cos:literal),*]) => {
        impl Trigonometric for $float {
            #[inline(always)]
            fn sin(x: Self) -> Self {
                let Angle { rest, quarters } = $reduce(x);
                Self::at(rest, quarters)
            }

            #[inline(always)]
            fn cos(x: Self) -> Self {
                let Angle { rest, quarters } = $reduce(x);
                Self::at(rest, quarters.wrapping_add(1))
            }
        }

        impl Turned for $float {
            #[inline(always)]
            fn at(rest: Self, quarters: u32) -> Self {
                let square = rest * rest;
                // The sum with +0 keeps the sign of -0, which a product with the negative
                // polynomial would change.
                let cube = isa::$fma(square, rest, 0.0);
                let sine = isa::$fma(cube, horner!(isa::$fma, square, $($sin),*), rest);
                let cosine = horner!(isa::$fma, square, 1.0, $($cos),*);
                let value = if quarters & 1 == 0 { sine } else { cosine };
                $float::from_bits(value.to_bits() ^ ((quarters as $bits & 2) << ($bits::BITS - 2)))
            }
        }
    };
}

/// What the functions above are made of.
trait Turned: Sized {
    /// The sine of an angle.
    fn at(rest: Self, quarters: u32) -> Self;
}

// The coefficients from x^3 on of the sine, and from x^2 on of the cosine, are those with the least
// maximum relative error over |x| <= 0.79 (Remez): each is rounded in turn, and the others are then
// fitted again. That error is 2^-32.5 and 2^-32.9 in `f32`, and 2^-57.9 and 2^-63.9 in `f64`, where
// the range is |x| <= 1.00001 * pi / 4.
trigonometric!(f32 as u32: fma_f32 reduce_f32,
    sin = [-0.166_666_67, 0.008_333_379, -0.000_198_530_14, 2.831_484e-6],
    cos = [-0.5, 0.041_666_646, -0.001_388_730_4, 2.443_12e-5]);
trigonometric!(f64 as u64: fma_f64 reduce_f64,
    sin = [-0.166_666_666_666_666_3, 0.008_333_333_333_321_84, -0.000_198_412_698_293_584_9,
        2.755_731_353_849_131_3e-6, -2.505_073_438_462_571_5e-8, 1.589_543_298_101_865_6e-10],
    cos = [-0.5, 0.041_666_666_666_666_595, -0.001_388_888_888_887_334_2, 2.480_158_728_900_205e-5,
        -2.755_731_421_701_865_4e-7, 2.087_570_539_166_869e-9, -1.135_874_893_542_858_2e-11]);
