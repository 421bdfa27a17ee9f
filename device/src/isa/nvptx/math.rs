//! Floating-point instructions of one thread, and one of bytes. `runtime.ll` defines them with
//! LLVM's intrinsics, which it can fold where the operands are known; none of them flushes
//! subnormal numbers (there is no `.ftz`).

macro_rules! float_instructions {
    ($float:ty: $fma:ident $sqrt:ident $min:ident $max:ident $floor:ident $trunc:ident $nearest:ident,
     $fma_symbol:ident $sqrt_symbol:ident $min_symbol:ident $max_symbol:ident
     $floor_symbol:ident $trunc_symbol:ident $nearest_symbol:ident) => {
        unsafe extern "C" {
            safe fn $fma_symbol(a: $float, b: $float, c: $float) -> $float;
            safe fn $sqrt_symbol(x: $float) -> $float;
            safe fn $min_symbol(a: $float, b: $float) -> $float;
            safe fn $max_symbol(a: $float, b: $float) -> $float;
            safe fn $floor_symbol(x: $float) -> $float;
            safe fn $trunc_symbol(x: $float) -> $float;
            safe fn $nearest_symbol(x: $float) -> $float;
        }

        /// `fma.rn`: `a * b + c`, rounded once, to nearest even.
        #[inline(always)]
        pub(crate) fn $fma(a: $float, b: $float, c: $float) -> $float {
            $fma_symbol(a, b, c)
        }

        /// `sqrt.rn`: the square root, rounded to nearest even.
        #[inline(always)]
        pub(crate) fn $sqrt(x: $float) -> $float {
            $sqrt_symbol(x)
        }

        /// `min`: the lesser operand, or the other one if one is NaN; -0 is less than +0 (section
        /// "min").
        #[inline(always)]
        pub(crate) fn $min(a: $float, b: $float) -> $float {
            $min_symbol(a, b)
        }

        /// `max`: the greater operand, or the other one if one is NaN; +0 is greater than -0
        /// (section "max").
        #[inline(always)]
        pub(crate) fn $max(a: $float, b: $float) -> $float {
            $max_symbol(a, b)
        }

        /// `cvt.rmi`: the greatest integer that is not greater.
        #[inline(always)]
        pub(crate) fn $floor(x: $float) -> $float {
            $floor_symbol(x)
        }

        /// `cvt.rzi`: the integer toward zero.
        #[inline(always)]
        pub(crate) fn $trunc(x: $float) -> $float {
            $trunc_symbol(x)
        }

        /// `cvt.rni`: the nearest integer, the even one of two.
        #[inline(always)]
        pub(crate) fn $nearest(x: $float) -> $float {
            $nearest_symbol(x)
        }
    };
}

float_instructions!(f32: fma_f32 sqrt_f32 min_f32 max_f32 floor_f32 trunc_f32 nearest_f32,
    tilepipe_fma_f32 tilepipe_sqrt_f32 tilepipe_min_f32 tilepipe_max_f32
    tilepipe_floor_f32 tilepipe_trunc_f32 tilepipe_nearest_f32);
float_instructions!(f64: fma_f64 sqrt_f64 min_f64 max_f64 floor_f64 trunc_f64 nearest_f64,
    tilepipe_fma_f64 tilepipe_sqrt_f64 tilepipe_min_f64 tilepipe_max_f64
    tilepipe_floor_f64 tilepipe_trunc_f64 tilepipe_nearest_f64);

unsafe extern "C" {
    safe fn tilepipe_permute_bytes(low: u32, high: u32, selector: u32) -> u32;
}

/// `prmt.b32`: the four bytes that the selector's four lowest digits of 16 name, of the eight of
/// `low` and `high`.
#[inline(always)]
pub(crate) fn permute_bytes(low: u32, high: u32, selector: u32) -> u32 {
    tilepipe_permute_bytes(low, high, selector)
}

unsafe extern "C" {
    safe fn tilepipe_rounded_bf16(low: f32, high: f32) -> u32;
    safe fn tilepipe_rounded_f16(low: f32, high: f32) -> u32;
    safe fn tilepipe_widened_f16(bits: u16) -> f32;
}

/// `cvt.rn.bf16x2.f32`: two numbers rounded to nearest even, the first in the low half.
#[inline(always)]
pub(crate) fn rounded_bf16(pair: [f32; 2]) -> u32 {
    let [low, high] = pair;
    tilepipe_rounded_bf16(low, high)
}

/// `cvt.rn.f16x2.f32`: two numbers rounded to nearest even, the first in the low half.
#[inline(always)]
pub(crate) fn rounded_f16(pair: [f32; 2]) -> u32 {
    let [low, high] = pair;
    tilepipe_rounded_f16(low, high)
}

/// `ex2.approx.ftz.f32`: 2 to the power of a number, approximately.
#[inline(always)]
pub(crate) fn exp2_approximate(x: f32) -> f32 {
    unsafe extern "C" {
        safe fn tilepipe_exp2(x: f32) -> f32;
    }
    tilepipe_exp2(x)
}

/// `rcp.approx.ftz.f32`: 1 divided by a number, approximately.
#[inline(always)]
pub(crate) fn reciprocal_approximate(x: f32) -> f32 {
    unsafe extern "C" {
        safe fn tilepipe_reciprocal(x: f32) -> f32;
    }
    tilepipe_reciprocal(x)
}

/// `cvt.f32.f16`: the same number.
#[inline(always)]
pub(crate) fn widened_f16(bits: u16) -> f32 {
    tilepipe_widened_f16(bits)
}
