use super::change::Pair;
use super::*;
use crate::record::small::tests::sizes;
use crate::record::tests::{example, recorded};
use crate::record::{Point, Sweep, Timing};
use crate::statistics::Summary;

/// A summary between these percentiles.
fn summary(low: f64, high: f64) -> Summary {
    Summary { median: low.midpoint(high), low, high, min: low, max: high }
}

/// The first kernel of the example, and its second peer alone, with these times and this ratio.
fn record(ours: Summary, peer: Summary, ratio: Summary) -> Report {
    let mut report = Report { repetitions: 30, ..example() };
    report.comparisons.truncate(1);
    let row = &mut report.comparisons[0];
    row.peers.swap(0, 1);
    row.peers.truncate(1);
    let timing = |milliseconds| Some(Timing { milliseconds, gigabytes_per_second: 1.0 });
    (row.timing, row.peers[0].timing, row.peers[0].ratio) = (timing(ours), timing(peer), Some(ratio));
    report
}

/// The example with another time of the first line of its sweep at its last place.
fn with_place(milliseconds: Summary) -> Report {
    let mut report = Report { repetitions: 30, ..example() };
    last_point(&mut report).timing = Some(Timing { milliseconds, gigabytes_per_second: 1.0 });
    report
}

fn last_point(report: &mut Report) -> &mut Point {
    &mut report.sweeps[0].lines[0].points[2]
}

/// What changed in sweeps: the kernel, the place, and what is said of it.
fn changed_places(before: &Report, after: &Report) -> Vec<(String, f64, &'static str)> {
    let comparison = compare(before, after);
    comparison.changed_places().map(|place| (place.line.clone(), place.x, place.verdict())).collect()
}

fn verdicts(before: &Report, after: &Report) -> Vec<String> {
    compare(before, after).entries.iter().map(Entry::verdict).collect()
}

#[test]
fn a_record_has_not_changed_against_itself() {
    for report in recorded().iter().map(|path| Report::read(path).unwrap()) {
        let comparison = compare(&report, &report);
        let peers: usize = report.comparisons.iter().map(|row| row.peers.len()).sum();
        assert_eq!(comparison.entries.len(), report.comparisons.len() + peers);
        assert!(comparison.entries.iter().all(|entry| !entry.has_changed() && entry.verdict().is_empty()));
        let points: usize = report.sweeps.iter().flat_map(|sweep| &sweep.lines).map(|line| line.points.len()).sum();
        assert_eq!((comparison.places.len(), comparison.changed_places().count()), (points, 0));
        assert!(
            comparison.warnings.is_empty() && comparison.only_before.is_empty() && comparison.only_after.is_empty()
        );
        let summary = comparison.summary();
        assert!(summary.lines().all(|line| line.starts_with("0 of ")), "{summary}");
    }
}

#[test]
fn a_change_counts_if_it_is_large_and_the_spreads_do_not_overlap() {
    let change = |before, after| Pair { before: Some(before), after: Some(after) }.beyond_noise();
    assert!((change(summary(1.0, 1.0), summary(1.02, 1.02)).unwrap() - 2.0).abs() < 1e-9);
    assert!(change(summary(1.0, 1.0), summary(0.9, 0.9)).unwrap() < -9.0);
    assert_eq!(change(summary(1.0, 1.0), summary(1.009, 1.009)), None, "too small");
    assert_eq!(change(summary(0.9, 1.1), summary(1.05, 1.25)), None, "they overlap");
    assert_eq!(change(summary(0.0, 0.0), summary(1.0, 1.0)), None, "no percentage of nothing");
    assert_eq!(Pair { before: Some(summary(1.0, 1.0)), after: None }.beyond_noise(), None);
}

#[test]
fn times_and_ratios_are_judged_apart() {
    let (one, more) = (summary(1.0, 1.001), summary(1.1, 1.101));
    let before = record(one, one, one);
    assert_eq!(verdicts(&before, &record(more, more, one)), ["slower, and its peers too", "slower"]);
    assert_eq!(
        verdicts(&before, &record(more, one, summary(0.9, 0.901))),
        ["ratio down", "slower"].map(String::from).into_iter().rev().collect::<Vec<_>>()
    );
    assert_eq!(verdicts(&before, &record(one, one, more)), ["ratio up", ""], "the changed one first");
    assert_eq!(verdicts(&record(more, more, one), &before), ["faster, and its peers too", "faster"]);
}

#[test]
fn the_summary_counts_directions() {
    let (one, more) = (summary(1.0, 1.001), summary(1.1, 1.101));
    let comparison = compare(&record(one, more, one), &record(more, one, summary(0.8, 0.801)));
    let summary = comparison.summary();
    assert!(
        summary.starts_with("2 of 2 changed")
            && summary.contains("1 faster, 1 slower; 0 ratios to a peer up, 1 down; 0 with other resources"),
        "{summary}"
    );
    let text = comparison.text();
    assert!(text.contains("+10.0 %") && text.contains("-9.1 %") && text.contains("-20.0 %"), "{text}");
}

#[test]
fn a_result_that_becomes_wrong_is_a_change() {
    let before = example();
    let mut after = example();
    after.comparisons[0].timing = None;
    after.comparisons[0].fault = Some("all differ".to_owned());
    after.comparisons[0].peers[2].fault = None;
    let comparison = compare(&before, &after);
    let verdicts: Vec<String> = comparison.entries.iter().map(Entry::verdict).collect();
    assert_eq!(verdicts[..2], ["WRONG now", "right now"]);
    assert!(verdicts.contains(&"WRONG in both".to_owned()), "{verdicts:?}");
    assert!(!comparison.entries[2].has_changed());
}

#[test]
fn what_only_one_record_has_is_named() {
    let before = example();
    let mut after = example();
    after.comparisons[1].grid = 512;
    after.comparisons[0].peers.remove(1);
    let comparison = compare(&before, &after);
    assert_eq!(
        comparison.only_before,
        ["twin_i32_2 beside first_kernel__i32_2 at 4096 blocks", "second_kernel__i32x4 at 4096 blocks"]
    );
    assert_eq!(comparison.only_after, ["second_kernel__i32x4 at 512 blocks"]);
    let text = comparison.text();
    assert!(text.contains("only in the first:\n  twin_i32_2 beside"), "{text}");
    assert!(text.contains("only in the second:\n  second_kernel__i32x4 at 512 blocks\n"), "{text}");
}

#[test]
fn resources_that_differ_are_a_change_and_are_told() {
    let before = example();
    let mut after = example();
    let ours = after.comparisons[0].resources.as_mut().unwrap();
    (ours.registers, ours.blocks_per_multiprocessor, ours.occupancy) = (40, 6, 0.75);
    after.comparisons[0].peers[1].resources.as_mut().unwrap().shared_bytes = 8192;
    let comparison = compare(&before, &after);
    let verdicts: Vec<String> = comparison.entries.iter().take(3).map(Entry::verdict).collect();
    assert_eq!(
        verdicts,
        ["32 to 40 registers, 8 to 6 blocks a multiprocessor", "4096 to 8192 bytes of shared memory", ""]
    );
    let summary = comparison.summary();
    assert!(summary.starts_with("2 of 7 changed") && summary.contains("; 2 with other resources"), "{summary}");
    assert!(comparison.text().contains("32 to 40 registers"), "{}", comparison.text());
}

#[test]
fn a_slower_kernel_with_other_resources_has_both_told() {
    let (one, more) = (summary(1.0, 1.001), summary(1.1, 1.101));
    let mut after = record(more, more, one);
    after.comparisons[0].resources.as_mut().unwrap().registers = 64;
    let ours = &verdicts(&record(one, one, one), &after)[0];
    assert_eq!(ours, "slower, and its peers too; 32 to 64 registers");
}

#[test]
fn resources_that_one_record_does_not_know_are_no_change() {
    let before = example();
    let mut after = example();
    after.comparisons[0].resources = None;
    for (one, other) in [(&before, &after), (&after, &before)] {
        assert!(compare(one, other).summary().starts_with("0 of 7"), "{}", compare(one, other).summary());
    }
}

#[test]
fn places_of_sweeps_are_judged_as_kernels_are() {
    let before = with_place(summary(1.0, 1.001));
    let changed = |after| changed_places(&before, &with_place(after)).first().map(|(_, _, verdict)| *verdict);
    assert_eq!(changed(summary(1.1, 1.101)), Some("slower"));
    assert_eq!(changed(summary(0.9, 0.901)), Some("faster"));
    assert_eq!(changed(summary(1.0005, 1.1)), None, "they overlap");
    assert_eq!(changed(summary(1.002, 1.003)), None, "too small");
    let after = with_place(summary(1.1, 1.101));
    assert_eq!(changed_places(&before, &after), [("ours".to_owned(), 1_048_576.0, "slower")]);
    assert!(compare(&before, &after).summary().ends_with("\n1 of 6 places of sweeps changed: 0 faster, 1 slower"));
}

#[test]
fn only_places_of_sweeps_that_changed_are_shown() {
    let (one, more) = (with_place(summary(1.0, 1.001)), with_place(summary(1.1, 1.101)));
    let text = compare(&one, &more).text();
    let of_sweep: Vec<&str> = text.lines().filter(|line| line.contains("Rate over <size>")).collect();
    assert_eq!(of_sweep.len(), 1, "{text}");
    assert!(of_sweep[0].contains("1048576") && of_sweep[0].contains("+10.0 %"), "{text}");
    let text = compare(&one, &one).text();
    assert!(!text.contains("Rate over <size>"), "{text}");
}

#[test]
fn a_place_of_a_sweep_that_becomes_wrong_or_right_is_a_change() {
    let before = example();
    let mut after = example();
    let last = last_point(&mut after);
    (last.timing, last.fault) = (None, Some("all differ".to_owned()));
    let verdicts = |one, other| changed_places(one, other).first().map(|(_, _, verdict)| *verdict);
    assert_eq!((verdicts(&before, &after), verdicts(&after, &before)), (Some("WRONG now"), Some("right now")));
    assert_eq!(changed_places(&after, &after), [], "wrong in both");
}

#[test]
fn sweeps_lines_and_places_that_only_one_record_has_are_named() {
    let before = example();
    let only = |change: fn(&mut Vec<Sweep>)| {
        let mut after = example();
        change(&mut after.sweeps);
        let comparison = compare(&before, &after);
        (comparison.only_before, comparison.only_after)
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
    assert_eq!(only(Vec::clear), (names(&["the sweep `Rate over <size>`"]), names(&[])));
    assert_eq!(
        only(|sweeps| sweeps[0].lines[1].name = "C".to_owned()),
        (names(&["C++ & co of the sweep `Rate over <size>`"]), names(&["C of the sweep `Rate over <size>`"]))
    );
    assert_eq!(
        only(|sweeps| sweeps[0].lines[0].points[0].x = 512.0),
        (
            names(&["ours at 1024 of the sweep `Rate over <size>`"]),
            names(&["ours at 512 of the sweep `Rate over <size>`"])
        )
    );
}

#[test]
fn small_sizes_are_compared_as_sweeps() {
    let with = |sizes| Report { sizes, ..example() };
    let mut slower = sizes();
    slower[0].contestants[1].grids[1].samples = vec![vec![0.003, 0.003]];
    slower[0].derive();
    slower.pop();
    let comparison = compare(&with(sizes()), &with(slower));
    assert_eq!(comparison.only_before, ["the sweep `triple, in graphs`"]);
    let changed = comparison.places.iter().filter(|place| !place.verdict().is_empty());
    let changed: Vec<(&str, f64)> = changed.map(|place| (place.line.as_str(), place.x)).collect();
    assert_eq!(
        changed.into_iter().filter(|(line, _)| line.starts_with("second")).collect::<Vec<_>>(),
        [("second, resident blocks", 65536.0)]
    );
}

#[test]
fn other_machines_sizes_and_few_repetitions_are_warned_of() {
    let before = Report { repetitions: 30, ..example() };
    let after = Report {
        gpu: "another".to_owned(),
        driver: "1.2".to_owned(),
        bytes: 1,
        repetitions: 1,
        compute_capability: "8.0".to_owned(),
        ..example()
    };
    let text = compare(&before, &after).text();
    for what in [
        "GPU differs",
        "compute capability differs",
        "driver differs: 580.1 and 1.2",
        "size in bytes",
        "30 and 1",
        "few",
    ] {
        assert!(text.contains(what), "{what} in {text}");
    }
    assert_eq!(compare(&before, &before).warnings, [""; 0]);
}

#[test]
fn empty_records_are_compared() {
    let empty = Report { comparisons: Vec::new(), sweeps: Vec::new(), repetitions: 30, ..example() };
    let comparison = compare(&empty, &empty);
    assert!(comparison.text().contains("0 of 0 changed"), "{}", comparison.text());
}
