use super::*;
use crate::record::{Line, Point, Timing};

/// Numbers of multiply-adds, and what ours takes, the synchronous kernel and the one by hand, in
/// milliseconds. Copies take 10, the arithmetic 2 and half of each multiply-add: 10 at 16, which
/// lies midway between two places. There ours takes 11 on the straight line between them, and the
/// others 16.5 and 12.1.
const INVENTED: [(f64, [f64; 3]); 5] = [
    (0.0, [10.0, 12.0, 9.0]),
    (12.0, [10.0, 16.0, 11.0]),
    (20.0, [12.0, 17.0, 13.2]),
    (40.0, [22.0, 26.0, 22.0]),
    (80.0, [42.0, 46.0, 42.0]),
];

/// A sweep over arithmetic whose balance is at 16, where ours is 1.5 times as fast as the
/// synchronous kernel.
pub fn invented() -> Sweep {
    let line = |(nth, name): (usize, &str)| Line {
        name: name.to_owned(),
        points: INVENTED
            .iter()
            .map(|(x, times)| Point {
                x: *x,
                timing: Timing::of(&[times[nth]], 1 << 30),
                fault: None,
                moved: 0,
                samples: Vec::new(),
            })
            .collect(),
    };
    Sweep {
        title: "invented".to_owned(),
        axis: MULTIPLY_ADDS.to_owned(),
        unit: String::new(),
        lines: [OURS, SYNCHRONOUS, BY_HAND].into_iter().enumerate().map(line).collect(),
    }
}

/// The same, but the synchronous kernel is faster at 20, and so short of what is wanted: it takes
/// 15.4 at the balance.
pub fn short() -> Sweep {
    with_time(1, 2, Some(14.8))
}

/// The same with another time, or none, of line `line` at place number `place`.
fn with_time(line: usize, place: usize, milliseconds: Option<f64>) -> Sweep {
    let mut sweep = invented();
    sweep.lines[line].points[place].timing = milliseconds.and_then(|milliseconds| Timing::of(&[milliseconds], 1 << 30));
    sweep
}

fn balance_of(sweep: &Sweep) -> Option<Ratios> {
    Balance::of(sweep).unwrap().balance
}

#[test]
fn the_balance_is_where_the_line_through_the_two_largest_comes_to_the_time_without_arithmetic() {
    let Ratios { multiply_adds, synchronous, by_hand } = balance_of(&invented()).unwrap();
    assert_eq!((multiply_adds, synchronous), (16.0, Some(1.5)));
    assert!((by_hand.unwrap() - 1.1).abs() < 1e-12, "{by_hand:?}");
}

#[test]
fn ratios_are_taken_at_every_measured_place() {
    let measured = Balance::of(&invented()).unwrap().measured;
    let places: Vec<f64> = measured.iter().map(|ratios| ratios.multiply_adds).collect();
    assert_eq!(places, INVENTED.map(|(x, _)| x));
    assert_eq!((measured[0].synchronous, measured[0].by_hand), (Some(1.2), Some(0.9)));
    assert_eq!((measured[1].synchronous, measured[3].by_hand), (Some(1.6), Some(1.0)));
}

#[test]
fn a_balance_at_a_measured_place_has_its_times() {
    // Without arithmetic ours takes what the line of the arithmetic takes at 20: 12.
    let ratios = balance_of(&with_time(0, 0, Some(12.0))).unwrap();
    assert_eq!((ratios.multiply_adds, ratios.synchronous), (20.0, Some(17.0 / 12.0)));
}

#[test]
fn ours_is_short_if_it_is_less_than_one_and_a_half_times_as_fast_at_the_balance() {
    assert_eq!(Balance::of(&invented()).unwrap().short(), None);
    let (ratio, place) = Balance::of(&short()).unwrap().short().unwrap();
    assert!((ratio - 1.4).abs() < 1e-12 && place == 16.0, "{ratio} at {place}");
}

#[test]
fn without_a_time_of_ours_or_of_the_synchronous_kernel_there_is_no_balance() {
    for place in 0..INVENTED.len() {
        for line in [0, 1] {
            let balance = Balance::of(&with_time(line, place, None)).unwrap();
            assert_eq!(balance.balance, None, "line {line}, place {place}");
            assert_eq!(balance.measured.len(), INVENTED.len());
            assert_eq!(balance.measured[place].synchronous, None);
        }
        let ratios = balance_of(&with_time(2, place, None)).unwrap();
        assert_eq!((ratios.synchronous, ratios.by_hand), (Some(1.5), None), "the one by hand is information");
    }
}

#[test]
fn a_place_that_only_another_line_has_is_missing_too() {
    for line in [0, 1] {
        for place in [0, 4] {
            let mut sweep = invented();
            sweep.lines[line].points.remove(place);
            assert_eq!(balance_of(&sweep), None, "line {line}, place {place}");
        }
    }
    let mut sweep = invented();
    sweep.lines.remove(1);
    assert_eq!(balance_of(&sweep), None);
}

#[test]
fn times_that_do_not_grow_with_arithmetic_have_no_balance() {
    assert_eq!(balance_of(&with_time(0, 4, Some(22.0))), None, "the largest two take equally long");
    assert_eq!(balance_of(&with_time(0, 4, Some(20.0))), None, "the largest takes less");
    assert_eq!(balance_of(&with_time(0, 0, Some(1.5))), None, "arithmetic takes longer everywhere");
    assert_eq!(balance_of(&with_time(0, 0, Some(22.0))), None, "the last but one is not bound by arithmetic");
    let mut sweep = invented();
    sweep.lines.iter_mut().for_each(|line| line.points.truncate(2));
    assert_eq!(balance_of(&sweep), None, "two places");
    sweep = invented();
    sweep.lines.iter_mut().for_each(|line| drop(line.points.remove(0)));
    assert_eq!(balance_of(&sweep), None, "none without arithmetic");
}

#[test]
fn only_sweeps_over_arithmetic_have_one() {
    let stages = Sweep { axis: "stages".to_owned(), ..invented() };
    assert_eq!(Balance::of(&stages), None);
}
