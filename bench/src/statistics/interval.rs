//! Where the ratio of two series of times lies with 95 % confidence.
//!
//! A bootstrap in two steps: processes are drawn with replacement, and of each the launches, as
//! launches of one process have more in common than those of two. The same samples always give the
//! same interval.

use super::Summary;
use super::random::Random;

/// How often the ratio is drawn.
const DRAWS: usize = 1000;
/// How much of them the interval leaves out at either end.
const TAIL: f64 = 0.025;

/// Returns the interval of the median ratio of pairs, of milliseconds process by process, where
/// both sides were measured in the same rounds; none where there is no pair.
pub fn of_pairs(above: &[Vec<f64>], below: &[Vec<f64>]) -> Option<[f64; 2]> {
    let ratios = above.iter().zip(below).map(|(above, below)| {
        let pairs = above.iter().zip(below).map(|(above, below)| above / below);
        pairs.filter(|ratio| ratio.is_finite()).collect::<Vec<f64>>()
    });
    let ratios: Vec<Vec<f64>> = ratios.filter(|process| !process.is_empty()).collect();
    let processes: Vec<&Vec<f64>> = ratios.iter().collect();
    (!processes.is_empty()).then(|| middle_of_draws(|random| drawn_median(&processes, random)))
}

/// Returns the interval of the ratio of the medians, of milliseconds process by process, where the
/// sides were not measured in the same rounds; none where one side has no samples.
pub fn of_ratio(above: &[Vec<f64>], below: &[Vec<f64>]) -> Option<[f64; 2]> {
    let [above, below] = [above, below].map(|side| side.iter().filter(|one| !one.is_empty()).collect::<Vec<_>>());
    if above.is_empty() || below.is_empty() {
        return None;
    }
    let interval = middle_of_draws(|random| drawn_median(&above, random) / drawn_median(&below, random));
    interval.iter().all(|end| end.is_finite()).then_some(interval)
}

/// Draws often, and leaves out what is at the ends.
fn middle_of_draws(draw: impl Fn(&mut Random) -> f64) -> [f64; 2] {
    let mut random = Random::new(0);
    let mut drawn: Vec<f64> = (0..DRAWS).map(|_| draw(&mut random)).collect();
    drawn.sort_by(f64::total_cmp);
    [TAIL, 1.0 - TAIL].map(|share| drawn[(share * (DRAWS - 1) as f64).round() as usize])
}

/// The median of a draw from processes, none of which is empty.
fn drawn_median(processes: &[&Vec<f64>], random: &mut Random) -> f64 {
    let mut drawn = Vec::new();
    for _ in processes {
        let process = processes[random.below(processes.len())];
        drawn.extend((0..process.len()).map(|_| process[random.below(process.len())]));
    }
    Summary::of(&drawn).map_or(f64::NAN, |summary| summary.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Launches around a median, as far as `spread` to either side.
    fn process(median: f64, spread: f64) -> Vec<f64> {
        (-10..=10).map(|nth| median + spread * f64::from(nth) / 10.0).collect()
    }

    #[test]
    fn without_samples_there_is_none() {
        assert_eq!(of_ratio(&[], &[vec![1.0]]), None);
        assert_eq!(of_ratio(&[vec![1.0]], &[Vec::new()]), None);
        assert_eq!(of_ratio(&[vec![1.0]], &[vec![0.0]]), None, "a clock that did not move");
    }

    #[test]
    fn it_holds_the_ratio_and_grows_with_the_spread_of_launches_and_of_processes() {
        let width = |[lower, upper]: [f64; 2]| {
            assert!(lower <= 2.0 && 2.0 <= upper, "{lower} to {upper}");
            upper - lower
        };
        let of = |medians: [f64; 3], spread: f64| {
            let above: Vec<Vec<f64>> = medians.iter().map(|median| process(2.0 * median, 2.0 * spread)).collect();
            width(of_ratio(&above, &[process(1.0, spread)]).unwrap())
        };
        let exact = of([1.0; 3], 0.0);
        let (quiet, loud, apart) = (of([1.0; 3], 0.01), of([1.0; 3], 0.1), of([0.9, 1.0, 1.1], 0.01));
        assert_eq!(exact, 0.0);
        assert!(0.0 < quiet && quiet < 0.05 && quiet < loud && 5.0 * quiet < apart, "{quiet} {loud} {apart}");
    }

    #[test]
    fn the_interval_of_pairs_is_narrow_where_both_sides_change_together() {
        let (above, below) = (process(2.0, 1.0), process(1.0, 0.5));
        assert_eq!(of_pairs(std::slice::from_ref(&above), std::slice::from_ref(&below)), Some([2.0, 2.0]));
        let reversed: Vec<f64> = below.iter().rev().copied().collect();
        let [lower, upper] = of_pairs(&[above], &[reversed]).unwrap();
        assert!(lower < 1.9 && 2.1 < upper, "{lower} to {upper}");
        assert_eq!(of_pairs(&[], &[vec![1.0]]), None);
        assert_eq!(of_pairs(&[vec![1.0]], &[vec![0.0]]), None, "a clock that did not move");
    }

    #[test]
    fn the_median_of_a_draw_is_between_the_two_middle_values() {
        assert_eq!(drawn_median(&[&vec![3.0]], &mut Random::new(1)), 3.0);
        let values = vec![1.0, 2.0];
        let drawn: Vec<f64> = (0..20).map(|seed| drawn_median(&[&values], &mut Random::new(seed))).collect();
        assert!([1.0, 1.5, 2.0].iter().all(|median| drawn.contains(median)), "{drawn:?}");
    }
}
