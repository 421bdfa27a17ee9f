//! Rounding to integers.

use crate::isa;

/// What a float has of this.
pub trait Rounding: Sized {
    fn floor(x: Self) -> Self;
    fn round(x: Self) -> Self;
    fn round_ties_even(x: Self) -> Self;
}

macro_rules! rounding {
    ($float:ident: $floor:ident $trunc:ident $nearest:ident) => {
        impl Rounding for $float {
            #[inline(always)]
            fn floor(x: Self) -> Self {
                isa::$floor(x)
            }

            #[inline(always)]
            fn round(x: Self) -> Self {
                let whole = isa::$trunc(x);
                // The fraction is exact. Adding a half before cutting off would round.
                if (x - whole).abs() >= 0.5 { whole + (1.0 as $float).copysign(x) } else { whole }
            }

            #[inline(always)]
            fn round_ties_even(x: Self) -> Self {
                isa::$nearest(x)
            }
        }
    };
}

rounding!(f32: floor_f32 trunc_f32 nearest_f32);
rounding!(f64: floor_f64 trunc_f64 nearest_f64);
