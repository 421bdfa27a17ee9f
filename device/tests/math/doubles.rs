//! The functions in `f64` against numbers of twice the bits.

use tilepipe::math;

use super::doubled::Doubled;
use super::random;

/// Checks that a function is less than `bound` ulp from the exact value for `count` arguments, and
/// prints the greatest error.
fn check(
    name: &str,
    computed: fn(f64) -> f64,
    exact: fn(Doubled) -> Doubled,
    bound: f64,
    arguments: impl Iterator<Item = f64>,
) {
    let mut worst = (0.0, 0.0);
    for x in arguments {
        let (computed, exact) = (computed(x), exact(Doubled(x, 0.0)));
        let size = exact.0.abs();
        let ulp = f64::from_bits((size.to_bits() >> 52 << 52) - (52 << 52));
        let error = ((computed - exact.0) - exact.1).abs() / ulp;
        assert!(error < bound, "{name} of {x:e} is {computed:e}, not {exact:?}: {error} ulp");
        if error > worst.0 {
            worst = (error, x);
        }
    }
    println!("{name}: {:.3} ulp for {:e}", worst.0, worst.1);
    assert!(worst.0 > 0.4, "errors of {name} are seen at all: {}", worst.0);
}

const COUNT: usize = 20_000;

/// Numbers between two.
fn between(from: f64, to: f64, seed: u64) -> impl Iterator<Item = f64> {
    random(seed).take(COUNT).map(move |bits| from + (to - from) * ((bits >> 11) as f64 / (1_u64 << 53) as f64))
}

/// Positive numbers whose logarithms are spread evenly between these, to the base 2.
fn magnitudes(from: f64, to: f64, seed: u64) -> impl Iterator<Item = f64> {
    between(from, to, seed).map(f64::exp2)
}

#[test]
fn exponentials() {
    check("exp", math::exp, Doubled::exp, 1.0, between(-200.0, 200.0, 1).chain(between(-1.0, 1.0, 2)));
    check("exp2", math::exp2, Doubled::exp2, 1.0, between(-300.0, 300.0, 3).chain(between(-1.0, 1.0, 4)));
    check("exp_fast", math::exp_fast, Doubled::exp, 4.0, between(-200.0, 200.0, 5).chain(between(-1.0, 1.0, 6)));
    check("tanh", math::tanh, Doubled::tanh, 2.0, between(0.01, 1.5, 7).chain(between(-20.0, -0.01, 8)));
}

#[test]
fn logarithms() {
    let arguments = |seed| magnitudes(-400.0, 400.0, seed).chain(between(0.5, 2.0, seed + 1)).filter(|x| *x != 1.0);
    check("log", math::log, Doubled::ln, 1.0, arguments(10));
    check("log2", math::log2, Doubled::log2, 1.0, arguments(20));
}

#[test]
fn roots_and_powers() {
    check("rsqrt", math::rsqrt, Doubled::rsqrt, 1.5, magnitudes(-400.0, 400.0, 30));
    check("rsqrt_fast", math::rsqrt_fast, Doubled::rsqrt, 1.1, magnitudes(-400.0, 400.0, 31));
    check("powi 5", |x| math::powi(x, 5), |x| x * x * x * x * x, 5.0, magnitudes(-50.0, 50.0, 32));
    check("powi -3", |x| math::powi(x, -3), |x| Doubled(1.0, 0.0) / (x * x * x), 6.0, magnitudes(-50.0, 50.0, 33));
}

#[test]
fn angles() {
    let arguments = |seed| between(-4.0, 4.0, seed).chain(between(-1e6, 1e6, seed + 1));
    check("sin", math::sin, |x| x.sin(0.0), 1.6, arguments(40));
    check("cos", math::cos, |x| x.sin(1.0), 1.6, arguments(42));
}

/// The standard library's functions are what `bounds` compares those in `f32` with: for arguments
/// that are `f32`.
#[test]
fn the_standard_librarys_functions_are_less_than_2_to_the_minus_50_of_the_value_off() {
    fn check(name: &str, computed: fn(f64) -> f64, exact: fn(Doubled) -> Doubled, of: impl Iterator<Item = f64>) {
        let mut worst = 0.0_f64;
        for x in of.map(|x| f64::from(x as f32)) {
            let (computed, exact) = (computed(x), exact(Doubled(x, 0.0)));
            let error = ((computed - exact.0) - exact.1).abs() / exact.0.abs();
            assert!(error < 2.0_f64.powi(-50), "{name} of {x:e} is {computed:e}, not {exact:?}");
            worst = worst.max(error);
        }
        println!("{name}: 2^{:.2} of the value", worst.log2());
        assert!(worst > 2.0_f64.powi(-55), "errors of {name} are seen at all: {worst:e}");
    }
    // Results from the least `f32` to the greatest.
    check("exp", f64::exp, Doubled::exp, between(-104.0, 89.0, 60).chain(between(-1.0, 1.0, 61)));
    check("exp2", f64::exp2, Doubled::exp2, between(-150.0, 128.0, 62).chain(between(-1.0, 1.0, 63)));
    let positive =
        |seed| magnitudes(-149.0, 128.0, seed).chain(between(0.5, 2.0, seed + 1)).filter(|x| *x as f32 != 1.0);
    check("ln", f64::ln, Doubled::ln, positive(64));
    check("log2", f64::log2, Doubled::log2, positive(66));
    check("1 / sqrt", |x| 1.0 / x.sqrt(), Doubled::rsqrt, positive(68));
    // Nearer to 0 the reference has not enough bits: there the tangent is the argument.
    check("tanh", f64::tanh, Doubled::tanh, magnitudes(-20.0, 4.0, 70).chain(between(-20.0, -0.01, 71)));
    // Up to 2^20.
    let angles = |seed| between(-4.0, 4.0, seed).chain(between(-1e6, 1e6, seed + 1));
    check("sin", f64::sin, |x| x.sin(0.0), angles(72));
    check("cos", f64::cos, |x| x.sin(1.0), angles(74));
    // Larger ones, first the `f32` that is nearest to a multiple of pi / 2, with sine and cosine as
    // 1200 bits of arithmetic give them.
    for (x, sin, cos) in [
        (7.729178919452902e+28, 1.0, -1.6147697982476211e-09),
        (3.4028234663852886e+38, -0.5218765233336585, 0.8530210398303042),
        (1073741824.0, -0.6173264150460421, 0.7867071229411882),
        (1.5845632502852868e+30, -0.9698368667359224, 0.2437549013247709),
        (-12945382703104.0, -0.8957120476888057, -0.44463460012141054),
        (8.070450532247929e+18, -0.546955591957762, -0.8371616214484119),
    ] {
        assert_eq!(f64::from(x as f32), x, "an `f32`");
        for (name, computed, exact) in [("sin", f64::sin(x), sin), ("cos", f64::cos(x), cos)] {
            let error = f64::abs(computed - exact);
            assert!(error < f64::abs(exact) * 2.0_f64.powi(-50), "{name} of {x:e} is {computed:e}, not {exact:e}");
        }
    }
}

/// Large angles, first the one of all doubles that is nearest to a multiple of pi / 2, with the
/// sine and the cosine as 3000 bits of arithmetic give them.
#[test]
fn large_angles() {
    for (x, sin, cos) in [
        (5.319372648326541e+255, 1.0, -4.687165924254628e-19),
        (1.7976931348623157e+308, 0.004961954789184062, -0.9999876894265599),
        (1e+22, -0.8522008497671888, 0.523214785395139),
        (1073741824.0, -0.6173264150460421, 0.7867071229411882),
        (1342192711.25, -0.46709922498238515, -0.8842049049970573),
        (1e+100, -0.3806377310050287, 0.9247242387519338),
        (123456789012.0, -0.08152420165661159, -0.9966713623578497),
        (8.98846567431158e+307, 0.563127779850884, -0.826369834614148),
        (5.319372648326541e+255, 1.0, -4.687165924254628e-19),
    ] {
        for (name, computed, exact) in [("sin", math::sin(x), sin), ("cos", math::cos(x), cos)] {
            assert!(
                f64::to_bits(computed).abs_diff(f64::to_bits(exact)) <= 1,
                "{name} of {x:e}: {computed:e}, {exact:e}"
            );
        }
        assert_eq!(math::sin(-x), -math::sin(x));
        assert_eq!(math::cos(-x), math::cos(x));
    }
}

#[test]
fn special_numbers() {
    fn bits<const COUNT: usize>(values: [f64; COUNT]) -> [u64; COUNT] {
        values.map(f64::to_bits)
    }
    let least = f64::from_bits(1);
    assert_eq!(bits([0.0, -0.0, least, -least].map(math::sin)), bits([0.0, -0.0, least, -least]));
    assert_eq!(bits([0.0, -0.0, least].map(math::cos)), bits([1.0; 3]));
    assert_eq!(bits([0.0, -0.0, least, -least].map(math::tanh)), bits([0.0, -0.0, least, -least]));
    assert_eq!([f64::INFINITY, f64::NEG_INFINITY, 20.0, -1e300].map(math::tanh), [1.0, -1.0, 1.0, -1.0]);
    assert_eq!([0.0, -0.0].map(math::log), [f64::NEG_INFINITY; 2]);
    assert_eq!([0.0, -0.0].map(math::log2), [f64::NEG_INFINITY; 2]);
    assert_eq!(bits([math::log(1.0), math::log2(1.0)]), [0; 2]);
    assert_eq!([math::log(f64::INFINITY), math::log2(f64::INFINITY)], [f64::INFINITY; 2]);
    assert_eq!([math::log2(least), math::log2(f64::MIN_POSITIVE), math::log2(8.0)], [-1074.0, -1022.0, 3.0]);
    assert_eq!([-1074.0, -1076.0, 1024.0, f64::NEG_INFINITY].map(math::exp2), [least, 0.0, f64::INFINITY, 0.0]);
    assert_eq!([0.0, -0.0, -710.0, f64::NEG_INFINITY, 711.0].map(math::exp_fast), [1.0, 1.0, 0.0, 0.0, f64::INFINITY]);
    for function in [math::sin, math::cos, math::tanh, math::log, math::log2, math::exp2, math::exp_fast] {
        assert!(function(f64::NAN).is_nan());
    }
    for x in [f64::INFINITY, f64::NEG_INFINITY] {
        assert!(math::sin(x).is_nan() && math::cos(x).is_nan());
    }
    assert!([-1.0, f64::NEG_INFINITY, -least].iter().all(|x| math::log(*x).is_nan() && math::log2(*x).is_nan()));
    assert!([math::rsqrt_fast(f64::NAN), math::powi(f64::NAN, 1)].iter().all(|x| x.is_nan()));
    assert_eq!([math::powi(f64::NAN, 0), math::powi(0.0, 0), math::powi(2.0, -1074)], [1.0, 1.0, least]);
    assert_eq!(bits([math::powi(-0.0, 3), math::powi(-0.0, -1)]), bits([-0.0, f64::NEG_INFINITY]));
    assert_eq!([math::powi(1.0, i32::MIN), math::powi(-1.0, i32::MAX)], [1.0, -1.0]);
}

#[test]
fn integers_are_those_of_the_standard_library() {
    for bits in random(50).take(1_000_000) {
        let sizes = [f64::from_bits(bits), (bits as i64 >> 20) as f64 * 2.0_f64.powi(-((bits & 63) as i32))];
        for x in sizes.into_iter().filter(|x| !x.is_nan()) {
            assert_eq!(math::floor(x).to_bits(), x.floor().to_bits(), "{x:e}");
            assert_eq!(math::round(x).to_bits(), x.round().to_bits(), "{x:e}");
            assert_eq!(math::round_ties_even(x).to_bits(), x.round_ties_even().to_bits(), "{x:e}");
        }
    }
    for x in [0.49999999999999994_f64, 0.5, 1.5, 2.5, 4503599627370495.5, 4503599627370497.0] {
        assert_eq!([math::round(x), math::round(-x)], [x.round(), -x.round()]);
    }
}
