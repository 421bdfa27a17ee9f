use serde_json::{Value, json};

use super::*;
use crate::record::Class;
use crate::record::small::tests::sizes;
use crate::record::tests::example;
use crate::statistics::Summary;

/// What one process measured: a row with a peer that is compared with it and one that races, and a
/// sweep of one line.
fn measured(seed: u64, ours: &[f64], theirs: &[f64]) -> Report {
    let mut report = example();
    report.comparisons.truncate(1);
    let row = &mut report.comparisons[0];
    row.task = "copy".to_owned();
    row.moved = 2 << 30;
    row.samples = vec![ours.to_vec()];
    row.peers.retain(|peer| peer.fault.is_none());
    row.peers.remove(1);
    for peer in &mut row.peers {
        peer.samples = vec![theirs.to_vec()];
        peer.wanted = Some(1.5);
    }
    row.derive();
    let line = &mut report.sweeps[0].lines[0];
    line.points.retain(|point| point.fault.is_none());
    for point in &mut line.points {
        point.moved = 1 << 20;
        point.samples = vec![vec![point.x * seed as f64]];
        point.derive();
    }
    report.sweeps[0].lines.truncate(1);
    report.repetitions = ours.len();
    let copy = vec![0.5 * seed as f64];
    report.copy = Timing::of(&copy, 2 << 30);
    report.date = format!("2026-11-2{seed}");
    report.processes = vec![Process {
        date: report.date.clone(),
        commit: report.commit.clone(),
        command: report.command.clone(),
        seed,
        conditions: None,
        versions: Default::default(),
        copy,
    }];
    report
}

fn named(reports: impl IntoIterator<Item = Report>) -> Vec<(String, Report)> {
    reports.into_iter().enumerate().map(|(place, report)| (format!("{place}.json"), report)).collect()
}

/// The error of a second record that differs from the first.
fn error(change: impl FnOnce(&mut Report)) -> String {
    let mut other = measured(2, &[1.0, 1.0], &[2.0, 2.0]);
    change(&mut other);
    format!("{:#}", merge(named([measured(1, &[1.0, 1.0], &[2.0, 2.0]), other])).unwrap_err())
}

#[test]
fn samples_are_joined_process_by_process_and_all_that_follows_is_worked_out_again() {
    let processes =
        [measured(1, &[1.0, 1.0], &[2.0, 2.0]), measured(2, &[2.0, 2.0], &[2.0, 2.0]), measured(3, &[4.0], &[4.0])];
    let whole = merge(named(processes)).unwrap();
    let row = &whole.comparisons[0];
    assert_eq!(row.samples, [vec![1.0, 1.0], vec![2.0, 2.0], vec![4.0]]);
    assert_eq!(row.timing, Timing::of(&[1.0, 1.0, 2.0, 2.0, 4.0], 2 << 30));
    let peer = &row.peers[0];
    assert_eq!((peer.samples.len(), &peer.timing), (3, &Timing::of(&[2.0, 2.0, 2.0, 2.0, 4.0], 2 << 30)));
    // Of the first process alone it was 2, which is enough.
    assert_eq!((peer.ratio, peer.met), (Summary::of(&[2.0, 2.0, 1.0, 1.0, 1.0]), false));
    assert_eq!(peer.interval, Some([1.0, 2.0]), "the processes differ, not their launches");
    let point = &whole.sweeps[0].lines[0].points[0];
    assert_eq!(point.samples, [[1024.0], [2048.0], [3072.0]]);
    assert_eq!(point.timing, Timing::of(&[1024.0, 2048.0, 3072.0], 1 << 20));
    assert_eq!(whole.copy, Timing::of(&[0.5, 1.0, 1.5], 2 << 30));
    assert_eq!((whole.date.as_str(), whole.repetitions), ("2026-11-21", 5));
    assert_eq!(whole.processes.iter().map(|process| process.seed).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn one_record_alone_stays_as_it_is_and_a_merged_one_can_be_merged() {
    let one = |seed| measured(seed, &[1.0, 1.5], &[2.0, 2.5]);
    assert_eq!(merge(named([one(1)])).unwrap(), one(1));
    let all = merge(named([one(1), one(2), one(3)])).unwrap();
    assert_eq!(merge(named([merge(named([one(1), one(2)])).unwrap(), one(3)])).unwrap(), all);
}

#[test]
fn rows_and_peers_are_matched_by_what_they_are_and_not_by_their_order() {
    let two_rows = |seed: u64, times: [f64; 2]| {
        let mut report = measured(seed, &[times[0]], &[times[0]]);
        let mut second = measured(seed, &[times[1]], &[times[1]]).comparisons.remove(0);
        second.grid = 512;
        report.comparisons.push(second);
        report
    };
    let mut other = two_rows(2, [3.0, 4.0]);
    other.comparisons.reverse();
    other.comparisons.iter_mut().for_each(|row| row.peers.reverse());
    let whole = merge(named([two_rows(1, [1.0, 2.0]), other])).unwrap();
    let samples = |row: usize| (&whole.comparisons[row].samples[..], &whole.comparisons[row].peers[0].samples[..]);
    assert_eq!(samples(0), (&[vec![1.0], vec![3.0]][..], &[vec![1.0], vec![3.0]][..]));
    assert_eq!(samples(1), (&[vec![2.0], vec![4.0]][..], &[vec![2.0], vec![4.0]][..]));
}

#[test]
fn what_is_wrong_in_any_process_stays() {
    let right = |seed| measured(seed, &[1.0, 1.0], &[2.0, 2.0]);
    let mut wrong = right(2);
    let row = &mut wrong.comparisons[0];
    row.peers[0].fault = Some("element 3 is 1".to_owned());
    row.peers[0].samples = vec![Vec::new()];
    row.peers[1].wrong = Some([20, 0]);
    wrong.sweeps[0].lines[0].points[0].fault = Some("all differ".to_owned());
    let mut again = right(3);
    again.comparisons[0].peers[0].fault = Some("element 4 is 1".to_owned());
    for order in [[right(1), wrong.clone(), again.clone()], [again.clone(), wrong.clone(), right(1)]] {
        let whole = merge(named(order)).unwrap();
        let [peer, racing] = &whole.comparisons[0].peers[..] else { panic!("two peers") };
        let fault = peer.fault.as_ref().unwrap();
        assert!(fault.contains("element 3 is 1") && fault.contains("element 4 is 1"), "{fault}");
        assert!(peer.timing.is_none() && peer.ratio.is_none() && peer.interval.is_none() && !peer.met);
        assert_eq!(racing.wrong, Some([20, 210]), "the most of 13 and 20, of 210 and 0");
        assert!(whole.comparisons[0].timing.is_some());
        let point = &whole.sweeps[0].lines[0].points[0];
        assert!(point.timing.is_none() && point.fault.is_some());
        assert_eq!(whole.failures().len(), 2, "{:?}", whole.failures());
    }
    let whole = merge(named([wrong.clone(), Report { processes: right(4).processes, ..wrong }])).unwrap();
    assert_eq!(whole.comparisons[0].peers[0].fault.as_deref(), Some("element 3 is 1"), "the same one is said once");
}

#[test]
fn records_of_something_else_are_refused() {
    for (message, change) in [
        ("the commit is other, and 0123abc", (|report| report.commit = "other".to_owned()) as fn(&mut Report)),
        ("the GPU is other", |report| report.gpu = "other".to_owned()),
        ("the compute capability is 8.0", |report| report.compute_capability = "8.0".to_owned()),
        ("the driver is 1", |report| report.driver = "1".to_owned()),
        ("the number of bytes is 7", |report| report.bytes = 7),
        ("the number of bytes moved is 8", |report| report.comparisons[0].moved = 8),
        ("first_kernel__i32_2 at grid 4096 (copy): not in all files: cuda::pipeline `pipeline_i32_2`", |report| {
            report.comparisons[0].peers.remove(0);
        }),
        ("not in all files: first_kernel__i32_2 at grid 4096 (copy)", |report| report.comparisons.clear()),
        ("not in all files: first_kernel__i32_2 at grid 4096 (copy); first_kernel__i32_2 at grid 1 (copy)", |report| {
            report.comparisons[0].grid = 1;
        }),
        ("not in all files: the sweep `Rate over <size>`", |report| report.sweeps.clear()),
        ("the sweep `Rate over <size>`: not in all files: ours", |report| report.sweeps[0].lines.clear()),
        ("not in all files: ours at x = 1024", |report| drop(report.sweeps[0].lines[0].points.remove(0))),
        ("a process of it is there already", |report| report.processes[0] = measured(1, &[], &[]).processes.remove(0)),
        ("its processes are not on record", |report| report.processes.clear()),
        ("has not the samples of its 1 processes", |report| report.comparisons[0].peers[1].samples.clear()),
        ("x = 1024 has not the samples", |report| report.sweeps[0].lines[0].points[0].samples.clear()),
        ("does not say how many bytes", |report| report.comparisons[0].moved = 0),
    ] {
        let error = error(change);
        assert!(error.starts_with("1.json: ") && error.contains(message), "{message} in {error}");
    }
    let error = error(|report| report.comparisons[0].peers[0].samples = vec![vec![2.0]]);
    assert!(error.contains("`pipeline_i32_2` of first_kernel") && error.contains("is [2, 1], and [2, 2]"), "{error}");
}

fn of_torch(seed: u64, ours: &[f64]) -> Value {
    let contestant = |name: &str, class: &str, symbol: &str, samples: &[f64]| json!({"name": name, "class": class, "symbol": symbol, "grid": 4096, "samples": samples, "wrong": 0});
    json!({
        "date": "2026-11-23", "commit": "0123abc", "command": "torch_peers.py", "seed": seed, "gpu": example().gpu,
        "versions": {"torch": "2.11.0"},
        "results": [{
            "task": "triple", "dtype": "i32", "elements": 4, "bytes_moved": 32,
            "contestants": [
                contestant("tilepipe", "tilepipe", "scale_own__i32_CpAsync_BlockScope_256_4", ours),
                contestant("torch.mul", "py-torch", "torch.mul", &[4.0, 4.0]),
            ],
        }],
    })
}

fn with_torch(runs: &[Value]) -> Result<Report> {
    let mut whole = merge(named([1, 2].map(|seed| measured(seed, &[1.0, 1.0], &[2.0, 2.0]))))?;
    let runs = runs.iter().map(|run| Ok(("torch.json".to_owned(), torch::rows(&run.to_string())?)));
    append(&mut whole, runs.collect::<Result<_>>()?)?;
    Ok(whole)
}

#[test]
fn the_rows_of_pytorch_come_last_and_every_process_has_its_place() {
    let without = with_torch(&[]).unwrap();
    let whole = with_torch(&[of_torch(7, &[1.0, 1.0]), of_torch(8, &[2.0, 2.0])]).unwrap();
    let seeds: Vec<u64> = whole.processes.iter().map(|process| process.seed).collect();
    assert_eq!((seeds, whole.repetitions, &whole.copy), (vec![1, 2, 7, 8], 4, &without.copy));
    let [first, last] = &whole.comparisons[..] else { panic!("two rows") };
    let none = Vec::new();
    assert_eq!(first.samples, [vec![1.0, 1.0], vec![1.0, 1.0], none.clone(), none.clone()]);
    assert_eq!(last.samples, [none.clone(), none, vec![1.0, 1.0], vec![2.0, 2.0]]);
    let torch = &last.peers[0];
    assert_eq!((torch.class, torch.samples.len()), (Some(Class::PyTorch), 4));
    assert_eq!((torch.ratio.unwrap().median, torch.interval), (3.0, Some([2.0, 4.0])));
    assert_eq!(first.timing, without.comparisons[0].timing);
    assert!(whole.sweeps[0].lines[0].points.iter().all(|point| point.samples.len() == 4));
    assert!(check(&whole).is_ok());
    // What follows does not change when it is worked out from all of them.
    let mut again = whole.clone();
    derive(&mut again.comparisons).unwrap();
    assert_eq!(again, whole);
}

#[test]
fn a_run_of_pytorch_of_something_else_is_refused() {
    let error = |change: fn(&mut Value)| {
        let mut second = of_torch(8, &[1.0, 1.0]);
        change(&mut second);
        format!("{:#}", with_torch(&[of_torch(7, &[1.0, 1.0]), second]).unwrap_err())
    };
    assert!(error(|run| run["gpu"] = json!("other")).starts_with("torch.json: the GPU is other"));
    assert!(error(|run| run["commit"] = json!("other")).contains("the commit is other, and 0123abc"));
    assert!(error(|run| run["seed"] = json!(7)).contains("its process is there already"));
    let missing = error(|run| run["results"][0]["elements"] = json!(8));
    assert!(missing.contains("triple of 2^2 elements") && missing.contains("triple of 2^3 elements"), "{missing}");
}

#[test]
fn launches_of_something_else_are_refused() {
    let [process, _] = &costs::tests::example().launches[..] else { panic!("two processes") };
    let error = |change: fn(&mut Launches)| {
        let mut whole = measured(1, &[1.0, 1.0], &[2.0, 2.0]);
        add_launches(&mut whole, process.clone()).unwrap();
        let mut other = Launches { date: "later".to_owned(), ..process.clone() };
        change(&mut other);
        add_launches(&mut whole, other).err().map_or_else(String::new, |error| error.to_string())
    };
    assert_eq!(error(|_| ()), "");
    assert!(error(|other| other.gpu = "other".to_owned()).starts_with("the GPU is other"));
    assert!(error(|other| other.commit = "other".to_owned()).contains("the commit is other"));
    assert!(error(|other| other.launches = 1).contains("number of launches"));
    assert!(error(|other| other.kernels.clear()).contains("kernels"));
}

#[test]
fn files_become_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for seed in [1, 2] {
        measured(seed, &[1.0, 1.0], &[2.0, 2.0]).write(&path(&format!("{seed}.json"))).unwrap();
    }
    fs::write(path("torch.json"), of_torch(7, &[1.0, 1.0]).to_string()).unwrap();
    let files = vec![path("1.json"), path("2.json")];
    let costs = costs::tests::example();
    let launches = ["launches-1.json", "launches-2.json"].map(path);
    for (process, file) in costs.launches.iter().zip(&launches) {
        costs::write(process, file).unwrap();
    }
    costs::write(costs.compile.as_ref().unwrap(), &path("compile.json")).unwrap();
    let options = Options {
        files,
        output: path("all.json"),
        torch: vec![path("torch.json")],
        launches: launches.to_vec(),
        compile: Some(path("compile.json")),
    };
    let report = run(&options).unwrap();
    assert_eq!(report.costs, costs);
    // A merged record keeps them, and takes none of them twice.
    let again = Options {
        files: vec![path("all.json")],
        torch: Vec::new(),
        launches: Vec::new(),
        compile: None,
        ..options.clone()
    };
    assert_eq!(run(&Options { output: path("again.json"), ..again.clone() }).unwrap().costs, costs);
    let twice = run(&Options { launches: launches.to_vec(), ..again }).unwrap_err();
    assert!(format!("{twice:#}").contains("launches-1.json: its process is there already"), "{twice:#}");
    assert_eq!(Report::read(&path("all.json")).unwrap(), report);
    assert_eq!((report.comparisons.len(), report.processes.len()), (2, 3));
    let missing = run(&Options { torch: vec![path("none.json")], ..options }).unwrap_err().to_string();
    assert!(missing.contains("cannot read") && missing.contains("none.json"), "{missing}");
}

/// A record whose small sizes take `factor` times as long for ours.
fn with_sizes(seed: u64, factor: f64) -> Report {
    let mut report = measured(seed, &[1.0], &[2.0]);
    report.sizes = sizes();
    for size in &mut report.sizes {
        for contestant in size.contestants.iter_mut().filter(|one| one.class == Class::Tilepipe) {
            contestant.grids.iter_mut().flat_map(|at| &mut at.samples[0]).for_each(|time| *time *= factor);
        }
        size.derive();
    }
    report
}

#[test]
fn small_sizes_are_joined_and_the_best_grids_are_those_of_all_processes() {
    let mut second = with_sizes(2, 1.0);
    second.sizes.reverse();
    second.sizes.iter_mut().for_each(|size| size.contestants.reverse());
    // In this process the other grid is the better one by far.
    let ours = second.sizes[2].contestants.iter_mut().find(|one| one.name == "second").unwrap();
    ours.grids[0].samples = vec![vec![0.0001, 0.0001]];
    ours.grids[1].samples = vec![vec![0.009, 0.009]];
    let whole = merge(named([with_sizes(1, 1.0), second])).unwrap();
    let one = &whole.sizes[0];
    let grids = &one.contestants[1].grids;
    assert_eq!(grids[0].samples, [[0.004, 0.0041], [0.0001, 0.0001]]);
    assert_eq!(one.contestants[1].best.as_deref(), Some("a block a tile"));
    assert_eq!(one.ours.as_ref().map(|ours| ours.name.as_str()), Some("second"));
    assert_eq!(one.ratio, Summary::of_ratios(&[0.002, 0.0021, 0.002, 0.0021], &[0.004, 0.0041, 0.0001, 0.0001]));
    let [lower, upper] = one.interval.unwrap();
    assert!(upper / lower > 10.0, "the processes differ");
    let alone = merge(named([with_sizes(1, 1.0)])).unwrap();
    assert_eq!(alone, with_sizes(1, 1.0));
}

#[test]
fn small_sizes_that_were_measured_otherwise_are_no_record_to_merge() {
    let error = |change: fn(&mut Report)| {
        let mut other = with_sizes(2, 1.0);
        change(&mut other);
        format!("{:#}", merge(named([with_sizes(1, 1.0), other])).unwrap_err())
    };
    for (change, wanted) in [
        ((|report| report.sizes[0].buffers = 1) as fn(&mut Report), "sum & co at 64 KiB: the number of buffers is 1"),
        (|report| report.sizes[0].launches = 1, "the number of launches in a graph is 1"),
        (|report| drop(report.sizes.pop()), "not in all files: triple at 64 KiB"),
        (|report| drop(report.sizes[0].contestants.pop()), "not in all files: 16-byte loads"),
        (|report| report.sizes[0].contestants[0].grids[0].grid = Some(1), "not in all files: grid 32; grid 1"),
        (|report| report.sizes[0].contestants[0].grids[0].samples[0].truncate(1), "the number of samples is"),
        (|report| report.sizes[0].contestants[0].grids[0].samples.clear(), "has not the samples of its 1 processes"),
    ] {
        assert!(error(change).contains(wanted), "{wanted} in {}", error(change));
    }
    let mut wrong = with_sizes(2, 1.0);
    let at = &mut wrong.sizes[0].contestants[0].grids[0];
    (at.fault, at.samples) = (Some("all differ".to_owned()), vec![Vec::new()]);
    let whole = merge(named([with_sizes(1, 1.0), wrong])).unwrap();
    assert_eq!(whole.sizes[0].contestants[0].best, None, "wrong in one process is wrong");
}
