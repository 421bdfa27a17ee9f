//! Powers with a fixed exponent.

use crate::isa;

/// What a float has of this.
pub trait Power: Sized {
    fn rsqrt(x: Self) -> Self;
    fn rsqrt_fast(x: Self) -> Self;
    fn powi(x: Self, n: i32) -> Self;
}

/// The functions of one type.
///
/// `rsqrt_fast` guesses by halving and negating the exponent, which also is a line through the
/// fraction; that is at most 3.6 % off. With `e = 1 - x * y^2` the result is `y / sqrt(1 - e)`:
/// the first step takes that by a polynomial fitted to the guess's errors, the second one by the
/// series.
macro_rules! power {
    ($float:ident as $bits:ident: $fma:ident $sqrt:ident, guess = $guess:literal,
     fitted = [$($fitted:literal),*], series = [$($series:literal),*]) => {
        impl Power for $float {
            #[inline(always)]
            fn rsqrt(x: Self) -> Self {
                1.0 / isa::$sqrt(x)
            }

            #[inline(always)]
            fn rsqrt_fast(x: Self) -> Self {
                let y = $float::from_bits(<$bits>::wrapping_sub($guess, x.to_bits() >> 1));
                let e = isa::$fma(-(x * y), y, 1.0);
                let y = y * horner!(isa::$fma, e, $($fitted),*);
                let e = isa::$fma(-(x * y), y, 1.0);
                isa::$fma(y * e, horner!(isa::$fma, e, $($series),*), y)
            }

            #[inline(always)]
            fn powi(x: Self, n: i32) -> Self {
                // The reciprocal first: the power of `x` could overflow where the result does not
                // underflow.
                let mut square = if n < 0 { 1.0 / x } else { x };
                let (mut power, mut left) = (1.0, n.unsigned_abs());
                while left != 0 {
                    if left & 1 == 1 {
                        power *= square;
                    }
                    square *= square;
                    left >>= 1;
                }
                power
            }
        }
    };
}

// The fitted polynomial has the least maximum relative error over -0.0698 <= e <= 0.0674 (Remez):
// 2^-15.2.
power!(f32 as u32: fma_f32 sqrt_f32, guess = 0x5f37_642f,
    fitted = [1.000_000_6, 0.501_103_9, 0.375_182_84], series = [0.5]);
power!(f64 as u64: fma_f64 sqrt_f64, guess = 0x5fe6_ec85_e000_0000,
    fitted = [1.000_000_640_651_355, 0.501_102_329_165_899_7, 0.375_143_394_199_957_07],
    series = [0.5, 0.375, 0.3125]);
