//! The interval of a ratio of two medians that were not measured in the same rounds.
//!
//! A bootstrap in two steps: processes are drawn with replacement, and of each the launches, as
//! launches of one process have more in common than those of two.

/// How often the ratio is drawn.
const DRAWS: usize = 1000;
/// How much of them the interval leaves out at either end.
const TAIL: f64 = 0.025;

/// Returns where the ratio of the medians lies with 95 % confidence, of milliseconds process by
/// process; none where one side has no samples. The same samples always give the same interval.
pub fn of_ratio(above: &[Vec<f64>], below: &[Vec<f64>]) -> Option<[f64; 2]> {
    let [above, below] = [above, below].map(|side| side.iter().filter(|one| !one.is_empty()).collect::<Vec<_>>());
    if above.is_empty() || below.is_empty() {
        return None;
    }
    let mut random = Random(0);
    let mut ratios: Vec<f64> =
        (0..DRAWS).map(|_| drawn_median(&above, &mut random) / drawn_median(&below, &mut random)).collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (DRAWS - 1) as f64).round() as usize];
    let interval = [at(TAIL), at(1.0 - TAIL)];
    interval.iter().all(|end| end.is_finite()).then_some(interval)
}

/// The median of a draw from processes, none of which is empty.
fn drawn_median(processes: &[&Vec<f64>], random: &mut Random) -> f64 {
    let mut drawn = Vec::new();
    for _ in processes {
        let process = processes[random.below(processes.len())];
        drawn.extend((0..process.len()).map(|_| process[random.below(process.len())]));
    }
    drawn.sort_by(f64::total_cmp);
    let middle = drawn.len() / 2;
    if drawn.len() % 2 == 1 { drawn[middle] } else { f64::midpoint(drawn[middle - 1], drawn[middle]) }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
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
    fn the_median_of_a_draw_is_between_the_two_middle_values() {
        assert_eq!(drawn_median(&[&vec![3.0]], &mut Random(1)), 3.0);
        let values = vec![1.0, 2.0];
        let drawn: Vec<f64> = (0..20).map(|seed| drawn_median(&[&values], &mut Random(seed))).collect();
        assert!([1.0, 1.5, 2.0].iter().all(|median| drawn.contains(median)), "{drawn:?}");
    }
}
