use std::path::PathBuf;

use super::*;

/// A record with what a record may have: two kernels, one of them wrong; peers that are right,
/// short of what is wanted, wrong and racing; resources; a sweep with a point that is missing. Its
/// names need escaping.
pub fn example() -> Report {
    let timing = |milliseconds: f64| Timing::of(&[milliseconds, milliseconds * 1.01], 2 << 30);
    let resources = Resources {
        registers: 32,
        shared_bytes: 4096,
        blocks_per_multiprocessor: 8,
        occupancy: 1.0,
        bytes_in_flight: Some(24_576),
    };
    let peer = |name: &str, symbol: &str, milliseconds: f64| PeerRow {
        name: name.to_owned(),
        symbol: symbol.to_owned(),
        timing: timing(milliseconds),
        fault: None,
        wrong: None,
        ratio: Summary::of_ratios(&[milliseconds], &[1.0]),
        interval: None,
        class: None,
        grid: None,
        samples: Vec::new(),
        wanted: None,
        met: true,
        resources: Some(resources.clone()),
    };
    let wrong = Some("element 3 is <1>, expected 2; 1 differ".to_owned());
    let row = Row {
        kernel: "first_kernel".to_owned(),
        task: String::new(),
        symbol: "first_kernel__i32_2".to_owned(),
        dtype: "i32".to_owned(),
        stages: Some("2".to_owned()),
        threads: 256,
        grid: 4096,
        inputs: 1,
        moved: 0,
        timing: timing(1.0),
        fault: None,
        resources: Some(resources.clone()),
        samples: Vec::new(),
        peers: vec![
            peer("cuda::pipeline", "pipeline_i32_2", 2.0),
            PeerRow { wanted: Some(0.98), met: false, ..peer("cp.async & <\"barrier\">", "twin_i32_2", 0.9) },
            PeerRow { timing: None, ratio: None, fault: wrong.clone(), ..peer("plain", "plain_i32", 1.0) },
            PeerRow { wrong: Some([13, 210]), ..peer("cuda::pipeline, thread scope", "thread_scope_i32_2", 1.5) },
        ],
    };
    let broken = Row {
        kernel: "second<kernel>".to_owned(),
        symbol: "second_kernel__i32x4".to_owned(),
        dtype: "i32x4".to_owned(),
        stages: None,
        timing: None,
        fault: wrong.clone(),
        resources: None,
        peers: vec![PeerRow { ratio: None, met: false, ..peer("cooperative groups", "prior_i32x4", 1.25) }],
        ..row.clone()
    };
    let point = |x: f64, milliseconds: f64| Point {
        x,
        timing: timing(milliseconds),
        fault: None,
        moved: 0,
        samples: Vec::new(),
    };
    let missing = Point { timing: None, fault: wrong, ..point(65536.0, 1.0) };
    let line = |name: &str, points| Line { name: name.to_owned(), points };
    Report {
        date: "2026-01-31T23:59:59Z".to_owned(),
        commit: "0123abc".to_owned(),
        command: "measure <all> & more".to_owned(),
        gpu: "A \"GPU\" & <more>".to_owned(),
        compute_capability: "9.0".to_owned(),
        driver: "580.1".to_owned(),
        bytes: 1 << 30,
        repetitions: 2,
        copy: timing(0.8),
        comparisons: vec![row, broken],
        sweeps: vec![Sweep {
            title: "Rate over <size>".to_owned(),
            axis: "size".to_owned(),
            unit: "bytes".to_owned(),
            lines: vec![
                line("ours", vec![point(1024.0, 2.0), missing, point(1048576.0, 1.0)]),
                line("C++ & co", vec![point(1024.0, 4.0), point(65536.0, 3.0), point(1048576.0, 1.5)]),
            ],
        }],
        sizes: Vec::new(),
        processes: Vec::new(),
        costs: costs::Costs::default(),
    }
}

/// The recorded runs of the repository.
pub fn recorded() -> Vec<PathBuf> {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
    let folders = fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path().join("bench.json"));
    folders.filter(|path| path.exists()).collect()
}

#[test]
fn every_recorded_run_is_read() {
    let paths = recorded();
    assert!(paths.len() >= 2, "{paths:?}");
    for path in paths {
        let report = Report::read(&path).unwrap();
        assert!(report.comparisons.len() > 20 && report.copy.is_some(), "{}", path.display());
    }
}

#[test]
fn what_is_written_is_read_as_it_was() {
    let report = example();
    let json = serde_json::to_string_pretty(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
}

#[test]
fn a_file_that_is_no_record_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.json");
    let message = |path: &Path| Report::read(path).unwrap_err().to_string();
    assert!(message(&path).contains("cannot read") && message(&path).contains("some.json"), "{}", message(&path));
    fs::write(&path, "{}").unwrap();
    assert!(message(&path).contains("some.json is no record"), "{}", message(&path));
}

#[test]
fn shares_are_of_the_copy() {
    let report = example();
    let share = |timing| report.share(timing).map(|share| (share * 1000.0).round());
    assert_eq!(share(report.comparisons[0].timing.as_ref()), Some(800.0));
    assert_eq!(share(report.comparisons[1].timing.as_ref()), None);
    assert_eq!(Report { copy: None, ..example() }.share(report.comparisons[0].timing.as_ref()), None);
}

#[test]
fn a_clock_that_did_not_move_gives_no_time() {
    assert_eq!(Timing::of(&[0.0, 0.0], 1), None);
    assert_eq!(Timing::of(&[], 1), None);
}

#[test]
fn the_name_of_every_recorded_peer_and_line_tells_its_class() {
    for path in recorded() {
        let report = Report::read(&path).unwrap();
        for peer in report.comparisons.iter().flat_map(|row| &row.peers) {
            assert!(peer.class.or_else(|| Class::of_name(&peer.name)).is_some(), "{}", peer.name);
        }
        for line in report.sweeps.iter().flat_map(|sweep| &sweep.lines) {
            let is_ours = line.name.starts_with("tilepipe, ");
            assert_eq!(Class::of_name(&line.name).is_none(), is_ours, "{}", line.name);
        }
    }
}

#[test]
fn a_class_on_record_stands_above_the_name() {
    let peer =
        |name: &str, class| PeerRow { name: name.to_owned(), class, ..example().comparisons[0].peers[0].clone() };
    for (name, class) in [
        ("cuda::pipeline, thread scope", Class::Guide),
        ("cooperative groups", Class::Guide),
        ("cp.async, 1 barrier", Class::Hand),
        ("mbarriers, own element", Class::Hand),
        ("plain", Class::Plain),
        ("CUB", Class::Library),
        ("cublasLt", Class::Library),
        ("torch.compile", Class::PyTorch),
        ("unsafe Rust", Class::UnsafeRust),
        ("C++ & co", Class::Hand),
    ] {
        assert_eq!(peer(name, None).class(), class, "{name}");
    }
    assert_eq!(peer("cuda::pipeline", Some(Class::Pipeline)).class(), Class::Pipeline);
}

#[test]
fn what_is_wrong_or_races_has_no_right_time() {
    let report = example();
    let [row, broken] = &report.comparisons[..] else { panic!("two rows") };
    assert!(row.right_milliseconds().is_some() && broken.right_milliseconds().is_none());
    let right: Vec<bool> = row.peers.iter().map(|peer| peer.right_milliseconds().is_some()).collect();
    assert_eq!(right, [true, true, false, false]);
}
