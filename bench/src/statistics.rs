//! Medians and spreads of repeated measurements.

pub mod interval;
pub mod random;

use serde::{Deserialize, Serialize};

/// What a series of measurements comes to; all in the unit of the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The middle value; between the two middle ones where their number is even.
    pub median: f64,
    /// The value below which a tenth of the series lies.
    pub low: f64,
    /// The value above which a tenth of the series lies.
    pub high: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
}

impl Summary {
    /// Summarises a series; `None` if it is empty.
    pub fn of(values: &[f64]) -> Option<Summary> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let at = |fraction| quantile(&sorted, fraction);
        Some(Summary { median: at(0.5), low: at(0.1), high: at(0.9), min, max })
    }

    /// Summarises `others[i] / own[i]`, pair by pair: how many times faster `own` is if both are
    /// times. A pair whose `own` is 0 does not count.
    pub fn of_ratios(others: &[f64], own: &[f64]) -> Option<Summary> {
        let ratios = others.iter().zip(own).map(|(other, own)| other / own).filter(|ratio| ratio.is_finite());
        Summary::of(&ratios.collect::<Vec<f64>>())
    }

    /// Returns the width of the middle four fifths, in percent of the median.
    pub fn spread_percent(&self) -> f64 {
        let width = self.high - self.low;
        if width == 0.0 { 0.0 } else { width / self.median * 100.0 }
    }

    /// Whether the middle four fifths of both have a value in common.
    pub fn overlaps(&self, other: &Summary) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// The value at `fraction` of a sorted series that is not empty, linear between neighbours.
fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let position = fraction * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[position.floor() as usize], sorted[position.ceil() as usize]);
    below + (above - below) * position.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_order_and_outliers() {
        assert_eq!(Summary::of(&[3.0, 900.0, 1.0, 2.0, 4.0]).unwrap().median, 3.0);
        assert_eq!(Summary::of(&[4.0, 1.0, 3.0, 2.0]).unwrap().median, 2.5);
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn the_spread_leaves_a_tenth_out_on_either_side() {
        let values: Vec<f64> = (0..=10).map(|value| 95.0 + f64::from(value)).collect();
        let summary = Summary::of(&values).unwrap();
        assert_eq!((summary.low, summary.median, summary.high), (96.0, 100.0, 104.0));
        assert_eq!((summary.min, summary.max, summary.spread_percent()), (95.0, 105.0, 8.0));
        let one = Summary::of(&[7.0]).unwrap();
        assert_eq!((one.min, one.low, one.median, one.spread_percent()), (7.0, 7.0, 7.0, 0.0));
    }

    #[test]
    fn ratios_are_taken_pair_by_pair() {
        // Both slow down together: the ratio of each pair stays 2.
        let summary = Summary::of_ratios(&[2.0, 20.0, 4.0], &[1.0, 10.0, 2.0]).unwrap();
        assert_eq!((summary.min, summary.median, summary.max), (2.0, 2.0, 2.0));
    }

    #[test]
    fn a_pair_without_a_time_gives_no_ratio() {
        assert_eq!(Summary::of_ratios(&[2.0, 3.0], &[0.0, 1.0]).unwrap().median, 3.0);
        assert_eq!(Summary::of_ratios(&[2.0], &[0.0]), None);
        assert_eq!(Summary::of(&[0.0, 0.0]).unwrap().spread_percent(), 0.0);
    }

    #[test]
    fn intervals_overlap_unless_one_lies_beyond_the_other() {
        let of = |low, high| Summary { median: low, low, high, min: low, max: high };
        assert!(of(1.0, 2.0).overlaps(&of(2.0, 3.0)) && of(1.0, 4.0).overlaps(&of(2.0, 3.0)));
        assert!(!of(1.0, 2.0).overlaps(&of(2.1, 3.0)) && !of(2.1, 3.0).overlaps(&of(1.0, 2.0)));
    }
}
