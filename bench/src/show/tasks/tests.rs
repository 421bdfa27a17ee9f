use super::*;
use crate::record::tests::example;

/// A peer of the example that is right, with another name and another time.
fn peer(name: &str, class: Option<Class>, milliseconds: f64) -> PeerRow {
    PeerRow {
        name: name.to_owned(),
        symbol: name.to_owned(),
        class,
        timing: Timing::of(&[milliseconds], 2 << 30),
        ratio: None,
        interval: None,
        ..example().comparisons[0].peers[0].clone()
    }
}

fn row(task: &str, milliseconds: f64, peers: Vec<PeerRow>) -> Row {
    let timing = Timing::of(&[milliseconds], 2 << 30);
    Row { task: task.to_owned(), timing, peers, ..example().comparisons[0].clone() }
}

fn of(rows: Vec<Row>) -> Report {
    Report { comparisons: rows, ..example() }
}

fn names(report: &Report) -> Vec<String> {
    tasks(report).into_iter().map(|task| task.name).collect()
}

#[test]
fn the_best_of_all_neither_races_nor_is_wrong_nor_a_twin() {
    let wrong = PeerRow { timing: None, fault: Some("all differ".to_owned()), ..peer("wrong", None, 0.1) };
    let racing = PeerRow { wrong: Some([0, 0]), ..peer("racing", None, 0.2) };
    let twin = peer("unsafe Rust", None, 0.3);
    let peers = vec![peer("plain", None, 3.0), wrong, racing, twin, peer("CUB", None, 2.0)];
    let report = of(vec![row("t", 1.0, peers)]);
    let task = tasks(&report).swap_remove(0);
    let others: Vec<(Class, f64)> = task.others.iter().map(|other| (other.class, other.speed)).collect();
    assert_eq!(others, [(Class::Library, 1.0), (Class::Plain, 2.0 / 3.0)]);
    assert_eq!(task.ratio, Some(Ratio { value: 2.0, interval: None }));
    assert_eq!(task.twin, Some(Ratio { value: 0.3, interval: None }));
}

#[test]
fn our_fastest_kernel_is_compared_with_the_fastest_of_any_row_of_its_task() {
    let rows = vec![
        row("t", 1.0, vec![peer("cp.async", None, 1.2), peer("unsafe Rust", None, 1.0)]),
        row("t", 0.5, vec![peer("cp.async", None, 0.9), peer("plain", None, 2.0)]),
        row("t", 0.8, vec![peer("mbarriers", None, 0.6)]),
    ];
    let report = of(rows);
    let task = tasks(&report).swap_remove(0);
    assert_eq!(task.ours.map(|row| row.timing.as_ref().unwrap().milliseconds.median), Some(0.5));
    assert_eq!(task.others.iter().map(|other| other.peer.name.as_str()).collect::<Vec<_>>(), ["mbarriers", "plain"]);
    assert_eq!(task.ratio.map(|ratio| ratio.value), Some(0.6 / 0.5));
    assert_eq!(task.twin, None, "the twin of another kernel says nothing of ours");
}

#[test]
fn a_ratio_of_pairs_stands_above_that_of_medians() {
    let paired = |symbol: &str| PeerRow {
        symbol: symbol.to_owned(),
        ratio: crate::statistics::Summary::of(&[1.25]),
        interval: Some([1.2, 1.3]),
        ..peer("CUB", None, 1.1)
    };
    let report = of(vec![row("t", 1.0, vec![paired("a")])]);
    assert_eq!(tasks(&report)[0].ratio, Some(Ratio { value: 1.25, interval: Some([1.2, 1.3]) }));
    // The best one stands in another row, and in ours with a longer time.
    let other = PeerRow { timing: Timing::of(&[1.05], 2 << 30), ..paired("a") };
    let report = of(vec![row("t", 2.0, vec![other.clone()]), row("t", 1.0, vec![paired("a")])]);
    assert_eq!(tasks(&report)[0].ratio.map(|ratio| ratio.value), Some(1.25));
    // One with another grid is another one.
    let of_medians = Some(Ratio { value: 1.05, interval: None });
    let one_block = PeerRow { grid: Some(1), ..other.clone() };
    let report = of(vec![row("t", 2.0, vec![one_block]), row("t", 1.0, vec![paired("a")])]);
    assert_eq!(tasks(&report)[0].ratio, of_medians);
    // A peer without a grid has its row's.
    let smaller = Row { grid: 512, ..row("t", 2.0, vec![other]) };
    let report = of(vec![smaller, row("t", 1.0, vec![paired("a")])]);
    assert_eq!(tasks(&report)[0].ratio, of_medians);
}

#[test]
fn the_fastest_of_some_classes_is_compared_too() {
    let guide = PeerRow { samples: vec![vec![3.0]], ..peer("cuda::pipeline", None, 3.0) };
    let rows = vec![
        Row { samples: vec![vec![1.0]], ..row("t", 1.0, vec![peer("CUB", None, 2.0), peer("torch", None, 0.5)]) },
        row("t", 4.0, vec![guide, peer("plain", None, 2.5)]),
    ];
    let report = of(rows);
    let task = tasks(&report).swap_remove(0);
    let over = |classes: &[Class]| task.fastest_of(classes).and_then(|other| task.over_ours(other));
    assert_eq!(over(&[Class::Plain, Class::Library]), Some(Ratio { value: 2.0, interval: None }));
    assert_eq!(over(&[Class::Guide]), Some(Ratio { value: 3.0, interval: Some([3.0, 3.0]) }));
    assert_eq!(over(&[Class::Pipeline]), None);
}

#[test]
fn samples_of_different_rows_give_an_interval_too() {
    let slower = PeerRow { samples: vec![vec![0.9, 0.9, 0.91]], ..peer("CUB", None, 0.9) };
    let rows =
        vec![Row { samples: vec![vec![1.0, 1.0, 1.01]], ..row("t", 1.0, Vec::new()) }, row("t", 2.0, vec![slower])];
    let report = of(rows);
    let task = tasks(&report).swap_remove(0);
    let [lower, upper] = task.ratio.unwrap().interval.unwrap();
    assert!((0.88..=0.9).contains(&lower) && (0.9..0.92).contains(&upper), "{lower} to {upper}");
    assert!(task.is_below());
}

#[test]
fn ours_is_below_only_where_the_whole_interval_is() {
    let below = |value, interval| Ratio { value, interval }.is_below();
    assert!(below(0.95, Some([0.94, 0.999])));
    assert!(!below(0.95, Some([0.9, 1.0])) && !below(0.5, None) && !below(1.2, Some([1.1, 1.3])));
}

#[test]
fn wrong_ones_come_first_then_the_slowest_and_those_alone_last() {
    let broken =
        Row { timing: None, fault: Some("all differ".to_owned()), ..row("wrong", 1.0, vec![peer("CUB", None, 1.0)]) };
    let with = |name, milliseconds| row(name, 1.0, vec![peer("CUB", None, milliseconds)]);
    let report = of(vec![row("alone", 1.0, Vec::new()), with("faster", 2.0), with("slower", 0.5), broken]);
    assert_eq!(names(&report), ["wrong, i32", "slower, i32", "faster, i32", "alone, i32"]);
    let below: Vec<bool> = tasks(&report).iter().map(Task::is_below).collect();
    assert_eq!(below, [true, false, false, false], "wrong; the slower one has no interval");
}

#[test]
fn a_line_is_named_by_task_or_kernel_and_by_size_where_sizes_differ() {
    let small = Row { timing: Timing::of(&[0.5], 3 << 20), ..row("copy", 1.0, Vec::new()) };
    let report = of(vec![row("copy", 1.0, Vec::new()), small, row("", 1.0, Vec::new())]);
    let mut found = names(&report);
    found.sort();
    assert_eq!(found, ["copy, i32, 2 GiB", "copy, i32, 3 MiB", "first_kernel, i32"]);
    assert_eq!([size(1000), size(3 << 9), size(5 << 29)], ["1000 bytes", "1.5 KiB", "2.5 GiB"]);
}

#[test]
fn ratios_near_one_have_three_decimals() {
    assert_eq!(
        [0.8999, 0.9, 1.0004, 1.1, 1.1001, 12.345].map(times),
        ["0.90", "0.900", "1.000", "1.100", "1.10", "12.35"]
    );
    assert_eq!(with_interval(1.0, Some([0.89, 1.2])), "1.000 (0.89 to 1.20)");
    assert_eq!(with_interval(2.0, None), "2.00");
}
