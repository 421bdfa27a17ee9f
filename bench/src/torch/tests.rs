use super::*;

use serde_json::{Value, json};

const OURS: &str = "scale_own__i32_CpAsync_BlockScope_256_4";

fn contestant(name: &str, class: &str, symbol: &str, grid: Option<u32>, samples: &[f64]) -> Value {
    json!({"name": name, "class": class, "symbol": symbol, "grid": grid, "samples": samples, "wrong": 0})
}

/// A run with one task, of two kernels of ours and two others.
fn run() -> Value {
    json!({
        "date": "2026-11-23T12:00:00Z", "commit": "abc", "command": "torch_peers.py", "seed": 7, "gpu": "a GPU",
        "versions": {"torch": "2.11.0", "triton": "3.6.0"},
        "left_out": [{"task": "matmul", "contestant": "cublasLt", "why": "no library"}],
        "results": [{
            "task": "triple", "dtype": "i32", "elements": 1 << 20, "bytes_moved": 8 << 20, "launches_per_sample": 9,
            "contestants": [
                contestant("tilepipe", "tilepipe", OURS, Some(4096), &[1.0, 2.0]),
                contestant("tilepipe", "tilepipe", "scale_own__i32_CpAsync_ThreadScope_256_2", Some(1056), &[2.0, 2.0]),
                contestant("torch.mul", "py-torch", "torch.mul", None, &[2.0, 2.0]),
                contestant("a library", "library", "triple", None, &[4.0, 1.0]),
            ],
        }],
    })
}

fn read(run: &Value) -> Result<(Process, Vec<Row>)> {
    rows(&run.to_string()).map(|measured| (measured.process, measured.rows))
}

fn error(change: impl FnOnce(&mut Value)) -> String {
    let mut run = run();
    change(&mut run);
    format!("{:#}", read(&run).unwrap_err())
}

#[test]
fn each_kernel_of_ours_has_a_row_with_all_the_others() {
    let (process, rows) = read(&run()).unwrap();
    assert_eq!((process.seed, process.commit.as_str(), process.versions["torch"].as_str()), (7, "abc", "2.11.0"));
    assert_eq!(rows.len(), 2);
    let row = &rows[0];
    assert_eq!((row.kernel.as_str(), row.symbol.as_str(), row.dtype.as_str()), ("scale_own", OURS, "i32"));
    assert_eq!((row.stages.as_deref(), row.threads, row.grid, row.inputs), (Some("4"), 256, 4096, 1));
    assert_eq!((rows[1].stages.as_deref(), rows[1].grid), (Some("2"), 1056));
    assert_eq!(row.task, "triple of 2^20 elements, in graphs");
    assert_eq!(row.samples, [[1.0, 2.0]]);
    assert_eq!(row.timing.as_ref().unwrap().milliseconds.median, 1.5);
    assert_eq!(row.timing.as_ref().unwrap().gigabytes_per_second, f64::from(8 << 20) / 1.5e6);
    let classes: Vec<_> = row.peers.iter().map(|peer| (peer.name.as_str(), peer.class, peer.grid)).collect();
    assert!(row.peers.iter().all(|peer| peer.interval.is_some()) && row.moved == 8 << 20);
    assert_eq!(classes, [("torch.mul", Some(Class::PyTorch), None), ("a library", Some(Class::Library), None)]);
    assert!(row.peers.iter().all(|peer| peer.met && peer.wanted.is_none() && peer.fault.is_none()));
}

#[test]
fn the_state_of_the_gpu_is_that_of_the_process_if_there_is_one() {
    let mut run = run();
    assert_eq!(read(&run).unwrap().0.conditions, None);
    run["conditions"] = Value::Null;
    assert_eq!(read(&run).unwrap().0.conditions, None);
    // As `torch_conditions.py` writes it.
    run["conditions"] = json!({
        "looks": 2, "clock_mhz": [1755.0, 1980.0], "memory_mhz": [3201.0, 3201.0], "power_watts": [612.34, 698.5],
        "celsius": [52.0, 61.0], "throttled": ["power cap"],
    });
    let conditions = read(&run).unwrap().0.conditions.unwrap();
    assert_eq!((conditions.looks, conditions.clock_mhz), (2, [1755.0, 1980.0]));
    assert_eq!((conditions.power_watts, conditions.throttled), ([612.34, 698.5], vec!["power cap".to_owned()]));
}

#[test]
fn ratios_are_those_of_the_rounds() {
    let (_, rows) = read(&run()).unwrap();
    let ratio = |row: usize, peer: usize| rows[row].peers[peer].ratio.unwrap();
    assert_eq!((ratio(0, 0).min, ratio(0, 0).max), (1.0, 2.0));
    assert_eq!((ratio(0, 1).min, ratio(0, 1).median, ratio(0, 1).max), (0.5, 2.25, 4.0));
    assert_eq!((ratio(1, 0).median, ratio(1, 1).median), (1.0, 1.25));
}

#[test]
fn what_is_wrong_has_neither_time_nor_ratio() {
    let mut run = run();
    run["results"][0]["contestants"][2]["wrong"] = json!(5);
    run["results"][0]["contestants"][2]["samples"] = json!([]);
    run["results"][0]["contestants"][1]["wrong"] = json!(1);
    let (_, rows) = read(&run).unwrap();
    let peer = &rows[0].peers[0];
    assert_eq!(peer.fault.as_deref(), Some("5 elements are wrong"));
    assert!(peer.timing.is_none() && peer.ratio.is_none() && peer.samples == [[0.0; 0]] && !peer.met);
    assert!(rows[0].peers[1].ratio.is_some());
    // Ours is wrong: no other is compared with it, and its times do not count.
    assert_eq!(rows[1].fault.as_deref(), Some("1 elements are wrong"));
    assert!(rows[1].timing.is_none() && rows[1].samples == [[0.0; 0]]);
    assert!(rows[1].peers[1].ratio.is_none() && rows[1].peers[1].timing.is_some());
}

#[test]
fn what_cannot_be_paired_is_an_error() {
    let samples = |value: Value| move |run: &mut Value| run["results"][0]["contestants"][3]["samples"] = value;
    assert_eq!(
        error(samples(json!([1.0]))),
        format!("`triple` of {} i32: a contestant lacks samples: the numbers are {{1, 2}}", 1 << 20)
    );
    assert!(error(samples(json!([]))).contains("lacks samples"));
    assert!(error(samples(json!([1.0, 0.0]))).contains("a library has a sample of Some(0.0)"));
    assert!(error(samples(json!([1.0, null]))).contains("no file of torch_peers.py"));
    let message = error(|run| run["results"][0]["contestants"][0]["grid"] = json!(null));
    assert!(message.ends_with(&format!("{OURS} has no grid")), "{message}");
    let message = error(|run| run["results"][0]["contestants"][0]["symbol"] = json!("scale_mine"));
    assert!(message.ends_with("there is no kernel `scale_mine`"), "{message}");
    let message = error(|run| {
        run["results"][0]["contestants"].as_array_mut().unwrap().drain(..2);
    });
    assert!(message.contains("no kernel of ours is among the contestants"), "{message}");
}

#[test]
fn sizes_are_written_as_people_read_them() {
    let text = |elements: u64| {
        let mut run = run();
        run["results"][0]["elements"] = json!(elements);
        read(&run).unwrap().1[0].task.clone()
    };
    assert_eq!(text(1 << 28), "triple of 2^28 elements, in graphs");
    assert_eq!(text(1000), "triple of 1000 elements, in graphs");
}
