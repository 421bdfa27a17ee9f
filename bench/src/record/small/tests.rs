use super::*;
use crate::record::Report;
use crate::record::tests::example;

/// A contestant whose grids take so many milliseconds a launch, in two rounds of one process.
pub fn contestant(name: &str, class: Class, times: &[(&str, [f64; 2])]) -> Contestant {
    let at = |(blocks, times): &(&str, [f64; 2])| AtGrid {
        blocks: (*blocks).to_owned(),
        grid: (*blocks == TILES).then_some(32).or((*blocks == RESIDENT).then_some(16)),
        timing: None,
        fault: None,
        samples: vec![times.to_vec()],
    };
    Contestant {
        name: name.to_owned(),
        class,
        symbol: format!("{name}_symbol"),
        grids: times.iter().map(at).collect(),
        best: None,
    }
}

const TILES: &str = "a block a tile";
const RESIDENT: &str = "resident blocks";

/// A task at a size: two of ours, of which the second is faster with resident blocks; C++ by hand,
/// plain and CUB.
pub fn small(task: &str, bytes: u64, contestants: Vec<Contestant>) -> Small {
    let mut small = Small {
        task: task.to_owned(),
        bytes,
        moved: 2 * bytes,
        launches: 100,
        buffers: 400,
        contestants,
        ours: None,
        other: None,
        ratio: None,
        interval: None,
        wanted: 0.97,
        met: false,
    };
    small.derive();
    small
}

/// Two sizes of one task, of which the second is short, and one of another task. Names need
/// escaping.
pub fn sizes() -> Vec<Small> {
    let all = |ours: f64| {
        vec![
            contestant("first", Class::Tilepipe, &[(TILES, [0.003, 0.0031])]),
            contestant("second", Class::Tilepipe, &[(TILES, [0.004, 0.0041]), (RESIDENT, [ours, 1.01 * ours])]),
            contestant("cp.async <first>", Class::Hand, &[(TILES, [0.002, 0.0021]), (RESIDENT, [0.0024, 0.0025])]),
            contestant("16-byte loads", Class::Plain, &[(TILES, [0.0022, 0.0023])]),
        ]
    };
    let cub = contestant("CUB", Class::Library, &[("its own grid", [0.0019, 0.0019])]);
    let other = vec![contestant("third", Class::Tilepipe, &[(TILES, [0.0018, 0.0018])]), cub];
    vec![
        small("sum & co", 1 << 16, all(0.002)),
        small("sum & co", 1 << 20, all(0.0025)),
        small("triple", 1 << 16, other),
    ]
}

#[test]
fn each_contestant_counts_with_its_best_grid_and_ours_stands_beside_the_fastest_other() {
    let [met, short, triple] = &sizes()[..] else { panic!("three") };
    let best: Vec<Option<&str>> = met.contestants.iter().map(|one| one.best.as_deref()).collect();
    assert_eq!(best, [Some(TILES), Some(RESIDENT), Some(TILES), Some(TILES)]);
    let (ours, other) = (met.ours.as_ref().unwrap(), met.other.as_ref().unwrap());
    assert_eq!((ours.name.as_str(), ours.blocks.as_str(), ours.grid), ("second", RESIDENT, Some(16)));
    assert_eq!((other.name.as_str(), other.grid), ("cp.async <first>", Some(32)));
    assert!((ours.microseconds - 2.01).abs() < 1e-9, "{ours:?}");
    // Round by round: 0.002 / 0.002 and 0.0021 / 0.00202.
    let ratio = met.ratio.unwrap();
    assert!((ratio.min - 1.0).abs() < 1e-9 && (ratio.max - 2.1 / 2.02).abs() < 1e-9, "{ratio:?}");
    let [lower, upper] = met.interval.unwrap();
    assert!(lower <= ratio.median && ratio.median <= upper && met.met);
    assert!(!short.met && short.ratio.unwrap().median < 0.97);
    assert_eq!([met, short, triple].map(Small::is_below), [false, true, false]);
    assert_eq!(triple.other.as_ref().map(|other| (other.name.as_str(), other.grid)), Some(("CUB", None)));
    assert_eq!(met.classes(), [Class::Tilepipe, Class::Hand, Class::Plain]);
    let rate = met.contestants[2].grids[0].timing.as_ref().unwrap().gigabytes_per_second;
    assert!((rate - f64::from(1 << 17) / (0.00205 * 1e6)).abs() < 1e-6, "{rate}");
}

#[test]
fn what_is_wrong_has_no_time_and_what_is_short_is_named() {
    let mut wrong = sizes().remove(1);
    let failures = wrong.failures();
    assert_eq!(failures.len(), 1);
    assert!(
        failures[0].contains("second is 0.81")
            && failures[0].contains("cp.async <first> at 1 MiB of `sum & co`; 0.97x")
    );
    for at in &mut wrong.contestants[1].grids {
        at.fault = Some("all differ".to_owned());
    }
    wrong.derive();
    assert_eq!((wrong.contestants[1].best.as_ref(), wrong.ours.as_ref().unwrap().name.as_str()), (None, "first"));
    let failures = wrong.failures();
    assert_eq!(failures.len(), 3, "{failures:?}");
    assert!(failures[0].contains("second_symbol is wrong at 1 MiB of `sum & co` with a block a tile: all differ"));
    wrong.contestants.retain(|one| one.class == Class::Tilepipe);
    wrong.derive();
    assert_eq!((&wrong.other, wrong.ratio, wrong.interval, wrong.met), (&None, None, None, false));
    assert_eq!(wrong.failures().len(), 2, "nothing to be slower than");
    assert_eq!(Report { sizes: vec![wrong], ..example() }.failures().len(), example().failures().len() + 2);
}

#[test]
fn sizes_are_read_as_they_were_written_and_older_records_have_none() {
    let report = Report { sizes: sizes(), ..example() };
    let mut json = serde_json::to_value(&report).unwrap();
    assert_eq!(serde_json::from_value::<Report>(json.clone()).unwrap(), report);
    json.as_object_mut().unwrap().remove("sizes");
    assert_eq!(serde_json::from_value::<Report>(json).unwrap(), example());
}

#[test]
fn a_task_is_a_sweep_with_a_line_for_each_contestant_and_grid() {
    let sweeps = sweeps(&sizes());
    let titles: Vec<&str> = sweeps.iter().map(|sweep| sweep.title.as_str()).collect();
    assert_eq!(titles, ["sum & co, in graphs", "triple, in graphs"]);
    assert_eq!(sweeps[0].places(), [65536.0, 1_048_576.0]);
    assert_eq!(sweeps[0].lines.len(), 6);
    let line = sweeps[0].line("second, resident blocks").unwrap();
    assert_eq!(line.points.iter().map(|point| point.samples[0][0]).collect::<Vec<_>>(), [0.002, 0.0025]);
}

#[test]
fn bytes_are_written_as_people_write_them() {
    assert_eq!([1000, 1024, 65536, 1 << 24, 3 << 19].map(size), ["1000 B", "1 KiB", "64 KiB", "16 MiB", "1536 KiB"]);
}
