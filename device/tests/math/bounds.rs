//! The functions in `f32` against the standard library's in `f64`, whose error is less than 2^-50
//! of the value (a test in `doubles`): some arguments, or all.

use tilepipe::math;

/// A function, its exact value, and what its documentation says.
struct Function {
    name: &'static str,
    computed: fn(f32) -> f32,
    exact: fn(f64) -> f64,
    /// The error is less than this many ulp..
    bound: f64,
    /// ..for these arguments.
    holds_for: fn(f32) -> bool,
}

/// What [`Function::bound`] is where every result is exact.
const EXACT: f64 = f64::MIN_POSITIVE;

/// Arguments that are always among those of a test.
const SPECIAL: [f32; 12] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.499_999_97,
    131_072.0,
    f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

/// Tests of each function: one with some arguments, and one with all, which takes minutes.
macro_rules! functions {
    ($($name:ident: $computed:expr, $exact:expr, $bound:expr $(, for $holds_for:expr)?;)*) => {$(
        mod $name {
            use super::*;

            const FUNCTION: Function = Function {
                name: stringify!($name),
                computed: $computed,
                exact: $exact,
                bound: $bound,
                holds_for: functions!(or_all $($holds_for)?),
            };

            #[test]
            fn is_within_its_bound() {
                FUNCTION.check(2039);
            }

            #[test]
            #[ignore = "takes minutes: `run.sh exhaustive` of a bundle runs it"]
            fn is_within_its_bound_for_every_argument() {
                FUNCTION.check(1);
            }
        }
    )*};
    (or_all) => { |_| true };
    (or_all $holds_for:expr) => { $holds_for };
}
functions! {
    sqrt: math::sqrt, f64::sqrt, 0.500_001;
    abs: math::abs, f64::abs, EXACT;
    floor: math::floor, f64::floor, EXACT;
    round: math::round, f64::round, EXACT;
    round_ties_even: math::round_ties_even, f64::round_ties_even, EXACT;
    rsqrt: math::rsqrt, |x| 1.0 / x.sqrt(), 1.5;
    rsqrt_fast: math::rsqrt_fast, |x| 1.0 / x.sqrt(), 1.1, for |x| x.is_normal() && x > 0.0;
    exp: math::exp, f64::exp, 0.9;
    exp2: math::exp2, f64::exp2, 0.9;
    exp_fast: math::exp_fast, f64::exp, 11.0, for |x| (-87.3..88.3).contains(&x);
    log: math::log, f64::ln, 1.0;
    log2: math::log2, f64::log2, 1.0;
    sin: math::sin, f64::sin, 1.55;
    cos: math::cos, f64::cos, 1.55;
    tanh: math::tanh, f64::tanh, 1.6;
    powi_2: |x| math::powi(x, 2), |x| x.powi(2), 2.0;
    powi_3: |x| math::powi(x, 3), |x| x.powi(3), 3.0;
    powi_11: |x| math::powi(x, 11), |x| x.powi(11), 11.0;
    powi_minus_2: |x| math::powi(x, -2), |x| x.powi(-2), 4.0;
}

/// The distance between neighbouring `f32` at a value that is not 0; the least one at 0.
fn ulp(value: f64) -> f64 {
    let exponent = value.to_bits() >> 52 & 0x7ff;
    f64::from_bits((exponent.clamp(1023 - 126, 1023 + 127) - 23) << 52)
}

impl Function {
    /// How many ulp it is off for this argument.
    ///
    /// # Panics
    ///
    /// If that is not less than the bound, or a NaN or a zero's sign is not as it should be.
    fn error(&self, x: f32) -> f64 {
        let (computed, exact) = ((self.computed)(x), (self.exact)(f64::from(x)));
        let name = self.name;
        if exact.is_nan() || computed.is_nan() {
            assert!(exact.is_nan() && computed.is_nan(), "{name} of {x:e} is {computed:e}, not {exact:e}");
            return 0.0;
        }
        // An infinity stands for the first number that is too large.
        const LIMIT: f64 = f32::MAX as f64 + (1_u128 << 104) as f64;
        let limited = |value: f64| value.clamp(-LIMIT, LIMIT);
        let error = (limited(f64::from(computed)) - limited(exact)).abs() / ulp(limited(exact));
        assert!(error < self.bound, "{name} of {x:e} is {computed:e}, not {exact:e}: {error} ulp");
        let has_sign = computed.is_sign_negative() == exact.is_sign_negative();
        assert!(has_sign, "{name} of {x:e} is {computed:e}, not {exact:e}");
        error
    }

    /// Checks every `stride`th argument on all cores, and prints the greatest error.
    fn check(&self, stride: usize) {
        let greater = |a: (f64, f32), b: (f64, f32)| if b.0 > a.0 { b } else { a };
        let greatest = |arguments: &mut dyn Iterator<Item = f32>| {
            arguments.filter(|&x| (self.holds_for)(x)).map(|x| (self.error(x), x)).fold((0.0, 0.0), greater)
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = |nth: usize| {
            let bits = (0..=u32::MAX).skip(nth * stride).step_by(threads * stride);
            greatest(&mut bits.map(f32::from_bits))
        };
        let all = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads).map(|nth| scope.spawn(move || share(nth))).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("every argument is within the bound"))
                .collect::<Vec<_>>()
        });
        let (error, x) = all.into_iter().fold(greatest(&mut SPECIAL.into_iter()), greater);
        println!("{}: {error:.4} ulp for {x:e}", self.name);
        assert!(error > 0.4 || self.bound <= EXACT, "errors of {} are seen at all: {error}", self.name);
    }
}
