//! The functions of `tilepipe::math` against the standard library, exact integers and the total
//! order of floats.

mod bounds;
mod doubled;
mod doubles;

use tilepipe::math;

/// Numbers from 0 to 2^64 without a pattern (splitmix64).
fn random(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |i: u64| {
        let z = (seed.wrapping_add(i)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

/// Every float with a bit pattern that is a multiple of `stride`: both signs, all exponents, NaNs.
fn floats(stride: usize) -> impl Iterator<Item = f32> {
    (0..=u32::MAX).step_by(stride).map(f32::from_bits)
}

/// How many representable numbers lie between two of the same sign.
fn distance(a: f64, b: f64) -> u64 {
    a.to_bits().abs_diff(b.to_bits())
}

#[test]
fn fma_is_rounded_once_in_f32() {
    for bits in random(1).take(1_000_000) {
        let (a, b) = ((bits & 0xff_ffff) as i128, (bits >> 24 & 0xff_ffff) as i128);
        // An exact `f32` of about the product's size, so that the sum cancels or rounds at any
        // place.
        let c = -((((a * b) >> (bits >> 58)) as f32) as i128);
        assert_eq!(
            math::fma(a as f32, b as f32, c as f32).to_bits(),
            ((a * b + c) as f32).to_bits(),
            "{a} * {b} + {c}"
        );
    }
}

#[test]
fn fma_is_rounded_once_in_f64() {
    let mut numbers = random(2);
    for _ in 0..1_000_000 {
        let mut next = || numbers.next().expect("endless");
        let (a, b, shift) = ((next() >> 11) as i128, (next() >> 11) as i128, next() % 100);
        let c = -((((a * b) >> shift) as f64) as i128);
        assert_eq!(
            math::fma(a as f64, b as f64, c as f64).to_bits(),
            ((a * b + c) as f64).to_bits(),
            "{a} * {b} + {c}"
        );
    }
}

#[test]
fn fma_follows_ieee_where_an_operand_is_special() {
    assert!(math::fma(f32::INFINITY, 0.0, 1.0).is_nan());
    assert!(math::fma(f32::INFINITY, 1.0, f32::NEG_INFINITY).is_nan());
    assert_eq!(math::fma(f32::MAX, 2.0, -f32::MAX), f32::MAX, "the product is not rounded to infinity");
    assert_eq!(math::fma(-1.0_f64, 0.0, 0.0).to_bits(), 0.0_f64.to_bits());
    assert_eq!(math::fma(-1.0_f64, 0.0, -0.0).to_bits(), (-0.0_f64).to_bits());
    let least = f32::from_bits(1);
    assert_eq!(math::fma(least, 0.75, 0.0), least, "a subnormal result is not flushed");
}

#[test]
fn square_roots_are_rounded_to_nearest() {
    for x in floats(4093) {
        // A root in `f64` has more than twice an `f32`'s bits, so that rounding it again is right.
        let exact = f64::from(x).sqrt() as f32;
        let root = math::sqrt(x);
        assert!(root.to_bits() == exact.to_bits() || root.is_nan() && exact.is_nan(), "the root of {x:e} is {root:e}");
    }
    for bits in random(3).take(1_000_000) {
        let root = (bits >> 11) as f64;
        let square = root as u128 * root as u128;
        // Rounding the square moves it by less than what separates the root from its neighbours.
        assert_eq!(math::sqrt(square as f64), root);
    }
}

#[test]
fn inverse_square_roots_of_special_numbers() {
    assert_eq!(math::rsqrt(0.0_f32), f32::INFINITY);
    assert_eq!(math::rsqrt(-0.0_f32), f32::NEG_INFINITY);
    assert_eq!(math::rsqrt(f64::INFINITY).to_bits(), 0);
    assert!(math::rsqrt(-1.0_f64).is_nan());
    assert!(math::rsqrt(f64::NAN).is_nan());
    assert_eq!(math::rsqrt(f32::from_bits(1)), 2.0_f32.powi(74) * std::f32::consts::SQRT_2);
}

#[test]
fn exp_is_next_to_the_standard_librarys_in_f64() {
    // Both are less than 1 ulp from the exact value, so no number lies between them.
    for (at, bits) in random(4).take(4_000_000).enumerate() {
        let unit = (bits >> 11) as f64 / (1_u64 << 53) as f64;
        let x = match at % 4 {
            0 => unit * 1460.0 - 748.0,
            1 => unit * 2.0 - 1.0,
            2 => unit * 40.0 - 748.0,
            _ => f64::from_bits(bits),
        };
        if !x.is_nan() {
            let (result, other) = (math::exp(x), x.exp());
            assert!(distance(result, other) <= 1, "exp({x:e}) is {result:e}, not {other:e}");
        }
    }
}

#[test]
fn exp_of_special_numbers() {
    assert_eq!(math::exp(0.0_f32), 1.0);
    assert_eq!(math::exp(-0.0_f32), 1.0);
    assert_eq!(math::exp(f32::from_bits(1)), 1.0);
    assert_eq!(math::exp(f32::INFINITY), f32::INFINITY);
    assert_eq!(math::exp(f32::NEG_INFINITY).to_bits(), 0);
    assert!(math::exp(f32::NAN).is_nan());
    assert!(math::exp(-f32::NAN).is_nan());
    assert_eq!(math::exp(0.0_f64), 1.0);
    assert_eq!(math::exp(-0.0_f64), 1.0);
    assert_eq!(math::exp(f64::MAX), f64::INFINITY);
    assert_eq!(math::exp(f64::MIN).to_bits(), 0);
    assert!(math::exp(f64::NAN).is_nan());
}

#[test]
fn exp_overflows_and_underflows_where_its_exact_value_does() {
    for (start, toward) in [(88.7, 88.8_f32), (-103.9, -104.1), (-87.3, -87.4)] {
        let (mut x, end) = (f32::min(start, toward), f32::max(start, toward));
        while x < end {
            let (result, exact) = (math::exp(x), f64::from(x).exp() as f32);
            assert!(result.to_bits().abs_diff(exact.to_bits()) <= 1, "exp({x:e}) is {result:e}, not {exact:e}");
            assert_eq!(result.is_infinite(), exact.is_infinite(), "exp({x:e})");
            x = x.next_up();
        }
    }
    assert!(math::exp(709.782_712_893_384_f64).is_finite());
    assert_eq!(math::exp(709.782_712_893_384_1_f64), f64::INFINITY);
    assert_eq!(math::exp(-745.133_219_101_941_1_f64), f64::from_bits(1));
    assert_eq!(math::exp(-745.133_219_101_941_2_f64).to_bits(), 0);
}

#[test]
fn fast_exp_outside_of_its_range() {
    let results = [-87.7, -88.0, -1e30, f32::MIN, f32::NEG_INFINITY].map(math::exp_fast);
    assert_eq!(results.map(f32::to_bits), [0; 5]);
    assert_eq!([88.4, 1e30, f32::MAX, f32::INFINITY].map(math::exp_fast), [f32::INFINITY; 4]);
    assert_eq!([0.0, -0.0].map(math::exp_fast), [1.0; 2]);
    assert!(math::exp_fast(f32::NAN).is_nan() && math::exp_fast(-87.5_f32).is_subnormal());
}

#[test]
fn min_and_max_follow_the_total_order_and_ignore_nan() {
    let values = [f64::NEG_INFINITY, -1.0, -f64::from_bits(1), -0.0, 0.0, f64::from_bits(1), 1.0, f64::INFINITY];
    for a in values {
        for b in values {
            let (least, greatest) = if a.total_cmp(&b).is_lt() { (a, b) } else { (b, a) };
            assert_eq!(math::min(a, b).to_bits(), least.to_bits(), "min({a:?}, {b:?})");
            assert_eq!(math::max(a, b).to_bits(), greatest.to_bits(), "max({a:?}, {b:?})");
            let (a, b) = (a as f32, b as f32);
            let (least, greatest) = if a.total_cmp(&b).is_lt() { (a, b) } else { (b, a) };
            assert_eq!(math::min(a, b).to_bits(), least.to_bits(), "min({a:?}, {b:?})");
            assert_eq!(math::max(a, b).to_bits(), greatest.to_bits(), "max({a:?}, {b:?})");
        }
        for nan in [f64::NAN, -f64::NAN, f64::from_bits(0x7ff0_0000_0000_0001)] {
            for result in [math::min(a, nan), math::min(nan, a), math::max(a, nan), math::max(nan, a)] {
                assert_eq!(result.to_bits(), a.to_bits(), "{a:?} and a NaN");
            }
        }
    }
    assert!(math::min(f32::NAN, f32::NAN).is_nan());
    assert!(math::max(f64::NAN, f64::NAN).is_nan());
}

#[test]
fn abs_clears_the_sign_and_nothing_else() {
    for x in floats(4093) {
        let result = math::abs(x);
        assert!(result.to_bits() == x.to_bits() & 0x7fff_ffff || x.is_nan() && result.is_nan(), "{x:e}");
    }
    assert_eq!(math::abs(-0.0_f64).to_bits(), 0);
    assert_eq!(math::abs(f64::NEG_INFINITY), f64::INFINITY);
}
