use super::*;
use crate::record::tests::{example, recorded};

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
        assert!(
            comparison.warnings.is_empty() && comparison.only_before.is_empty() && comparison.only_after.is_empty()
        );
        assert!(comparison.summary().starts_with("0 of "), "{}", comparison.summary());
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
        summary.starts_with("2 of 2 changed") && summary.ends_with("1 faster, 1 slower; 0 ratios to a peer up, 1 down"),
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
        ["second_kernel__i32x4 at 4096 blocks", "twin_i32_2 beside first_kernel__i32_2 at 4096 blocks"]
    );
    assert_eq!(comparison.only_after, ["second_kernel__i32x4 at 512 blocks"]);
    let text = comparison.text();
    assert!(text.contains("only in the first:\n  second_kernel__i32x4 at 4096 blocks\n"), "{text}");
    assert!(text.contains("only in the second:\n  second_kernel__i32x4 at 512 blocks\n"), "{text}");
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
    let empty = Report { comparisons: Vec::new(), repetitions: 30, ..example() };
    let comparison = compare(&empty, &empty);
    assert!(comparison.text().contains("0 of 0 changed"), "{}", comparison.text());
}
