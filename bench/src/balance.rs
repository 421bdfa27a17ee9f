//! The balance of a sweep over arithmetic: where the arithmetic takes as long as the copies that it
//! can hide.
//!
//! Only whole kernels are timed, so both are derived from our pipeline's times. The copies take as
//! long as the kernel without arithmetic. With the two largest numbers of multiply-adds the kernel
//! is bound by arithmetic, whose time is a straight line: the one through these two. The balance is
//! where that line comes to the time of the copies.

use crate::plan::sweeps::{BY_HAND, MULTIPLY_ADDS, OURS, SYNCHRONOUS};
use crate::record::Sweep;

/// How many times as fast as the synchronous kernel ours should be at the balance.
pub const WANTED: f64 = 1.5;

/// What a sweep over arithmetic says of overlapping copy and arithmetic.
#[derive(Debug, PartialEq)]
pub struct Balance {
    /// The ratios at each number of multiply-adds that was measured.
    pub measured: Vec<Ratios>,
    /// The ratios at the balance, of times that are interpolated linearly between neighbouring
    /// measured ones. None if our kernel or the synchronous one lacks a time, or the times have no
    /// balance.
    pub balance: Option<Ratios>,
}

/// Times of other kernels over ours: above 1 ours is faster. None where a time is missing.
#[derive(Debug, PartialEq)]
pub struct Ratios {
    /// Multiply-adds for each element.
    pub multiply_adds: f64,
    /// Of our kernel without asynchronous copies.
    pub synchronous: Option<f64>,
    /// Of `cp.async` by hand.
    pub by_hand: Option<f64>,
}

impl Balance {
    /// Reads a sweep; `None` if it is over something else than arithmetic.
    pub fn of(sweep: &Sweep) -> Option<Balance> {
        let ratios = |x| Ratios::of(x, |name| sweep.line(name)?.at(x)?.milliseconds());
        let read = || Balance { measured: sweep.places().into_iter().map(ratios).collect(), balance: balance(sweep) };
        (sweep.axis == MULTIPLY_ADDS).then(read)
    }

    /// Returns the ratio of the synchronous kernel at the balance, and where that is, if it is less
    /// than what is wanted.
    pub fn short(&self) -> Option<(f64, f64)> {
        let Ratios { multiply_adds, synchronous, .. } = self.balance.as_ref()?;
        synchronous.filter(|ratio| *ratio < WANTED).map(|ratio| (ratio, *multiply_adds))
    }
}

impl Ratios {
    /// Takes the ratios of what `time` returns for the names of lines.
    fn of(multiply_adds: f64, time: impl Fn(&str) -> Option<f64>) -> Ratios {
        let over_ours = |name| Some(time(name)? / time(OURS)?);
        Ratios { multiply_adds, synchronous: over_ours(SYNCHRONOUS), by_hand: over_ours(BY_HAND) }
    }
}

/// The times of a line, in milliseconds, by rising place: of every place of its sweep.
type Curve = Vec<(f64, f64)>;

fn balance(sweep: &Sweep) -> Option<Ratios> {
    let x = equally_long(&curve(sweep, OURS)?)?;
    let ratios = Ratios::of(x, |name| interpolated(&curve(sweep, name)?, x));
    ratios.synchronous.is_some().then_some(ratios)
}

/// None if the line lacks a time at any place.
fn curve(sweep: &Sweep, name: &str) -> Option<Curve> {
    let line = sweep.line(name)?;
    sweep.places().into_iter().map(|x| Some((x, line.at(x)?.milliseconds()?))).collect()
}

/// Where arithmetic takes as long as copies. None if the curve does not begin without arithmetic,
/// or if the two largest numbers of multiply-adds do not tell how arithmetic grows.
fn equally_long(ours: &Curve) -> Option<f64> {
    let &[(least, copies), .., before_last, last] = &ours[..] else { return None };
    let growth = (last.1 - before_last.1) / (last.0 - before_last.0);
    let x = last.0 - (last.1 - copies) / growth;
    // Beyond the last but one that one would take less than the copies: it would not be bound by
    // arithmetic.
    (least == 0.0 && growth > 0.0 && (least..before_last.0).contains(&x)).then_some(x)
}

/// The time at `x`, on the straight line between the two neighbouring points.
fn interpolated(curve: &Curve, x: f64) -> Option<f64> {
    let around = curve.windows(2).find(|pair| (pair[0].0..=pair[1].0).contains(&x))?;
    let [(from, below), (to, above)] = [around[0], around[1]];
    Some(below + (above - below) * (x - from) / (to - from))
}

#[cfg(test)]
pub mod tests;
