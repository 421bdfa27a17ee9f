//! Numbers of twice a double's bits, and functions of them: the reference for `f64`.
//!
//! A number is the sum of two doubles, of which the second is at most half an ulp of the first.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A sum of two doubles.
#[derive(Clone, Copy, Debug)]
pub struct Doubled(pub f64, pub f64);

impl Doubled {
    const LN_2: Doubled = Doubled(std::f64::consts::LN_2, 2.319_046_813_846_299_6e-17);
    const FRAC_PI_2: Doubled = Doubled(std::f64::consts::FRAC_PI_2, 6.123_233_995_736_766e-17);

    /// The sum of two doubles, exactly.
    fn sum(a: f64, b: f64) -> Self {
        let sum = a + b;
        let from_b = sum - a;
        Doubled(sum, (a - (sum - from_b)) + (b - from_b))
    }

    /// The product of two doubles, exactly.
    fn product(a: f64, b: f64) -> Self {
        Doubled(a * b, a.mul_add(b, -(a * b)))
    }

    fn scaled(self, power_of_two: f64) -> Self {
        Doubled(self.0 * power_of_two, self.1 * power_of_two)
    }

    /// `1 + self / divisor(1) * (1 + self / divisor(2) * ..)`, of a number that is less than 1.
    fn series(self, divisor: impl Fn(f64) -> f64) -> Self {
        let one = Doubled(1.0, 0.0);
        (1..20).rev().fold(one, |sum, n| one + self * sum / Doubled(divisor(f64::from(n)), 0.0))
    }

    /// e to the power of this, which is at most 300.
    pub fn exp(self) -> Self {
        let k = (self.0 / std::f64::consts::LN_2).round();
        // A 16th, so that the series converges sooner.
        let power = (self - Doubled::LN_2 * Doubled(k, 0.0)).scaled(1.0 / 16.0).series(|n| n);
        let power = (0..4).fold(power, |power, _| power * power);
        power.scaled(2.0_f64.powi(k as i32))
    }

    /// The natural logarithm of a positive number, by a step of Newton's.
    pub fn ln(self) -> Self {
        let guess = Doubled(self.0.ln(), 0.0);
        guess + (self * (-guess).exp() - Doubled(1.0, 0.0))
    }

    /// The logarithm to the base 2.
    pub fn log2(self) -> Self {
        self.ln() / Doubled::LN_2
    }

    /// 2 to the power of this.
    pub fn exp2(self) -> Self {
        (self * Doubled::LN_2).exp()
    }

    /// The hyperbolic tangent, of a number that is not too near to 0.
    pub fn tanh(self) -> Self {
        let power = self.scaled(2.0).exp();
        (power - Doubled(1.0, 0.0)) / (power + Doubled(1.0, 0.0))
    }

    /// One over the root of a positive number.
    pub fn rsqrt(self) -> Self {
        let guess = Doubled(1.0 / self.0.sqrt(), 0.0);
        let rest = Doubled(1.0, 0.0) - self * guess * guess;
        guess + guess * rest.scaled(0.5)
    }

    /// The sine of this and `quarters` quarter turns more, for at most 2^20.
    pub fn sin(self, quarters: f64) -> Self {
        let k = (self.0 / std::f64::consts::FRAC_PI_2).round();
        /// What the pair of constants leaves of pi / 2.
        const THIRD: f64 = -1.497_384_904_859_169_8e-33;
        let rest = self - Doubled::product(k, Doubled::FRAC_PI_2.0) - Doubled::product(k, Doubled::FRAC_PI_2.1);
        let rest = rest - Doubled(k * THIRD, 0.0);
        let square = -(rest * rest);
        let turn = (k + quarters).rem_euclid(4.0);
        let value = if turn % 2.0 == 0.0 {
            rest * square.series(|n| 2.0 * n * (2.0 * n + 1.0))
        } else {
            square.series(|n| (2.0 * n - 1.0) * (2.0 * n))
        };
        if turn >= 2.0 { -value } else { value }
    }
}

impl Add for Doubled {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let (high, low) = (Doubled::sum(self.0, other.0), Doubled::sum(self.1, other.1));
        let sum = Doubled::sum(high.0, high.1 + low.0);
        Doubled::sum(sum.0, sum.1 + low.1)
    }
}

impl Sub for Doubled {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Neg for Doubled {
    type Output = Self;

    fn neg(self) -> Self {
        Doubled(-self.0, -self.1)
    }
}

impl Mul for Doubled {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = Doubled::product(self.0, other.0);
        Doubled::sum(product.0, product.1 + (self.0 * other.1 + self.1 * other.0))
    }
}

impl Div for Doubled {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        let guess = Doubled(self.0 / other.0, 0.0);
        let rest = self - other * guess;
        let second = rest.0 / other.0;
        let rest = rest - other * Doubled(second, 0.0);
        Doubled::sum(guess.0, second) + Doubled(rest.0 / other.0, 0.0)
    }
}
