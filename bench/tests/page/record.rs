//! A record with what makes a page hard to lay out: long names, every class, every state,
//! intervals, tasks of which ours is far ahead or far behind, and sweeps with many lines.

use serde_json::{Value, json};

const LONG: &str = "with_specialized_staging_unified_and_a_name_that_goes_on_for_longer_than_a_line_of_a_phone";
const WORDS: &str = "neighbour sums of every group of 256 elements, tile by tile, with a name of many words";

/// The classes as records write them.
const CLASSES: [&str; 7] = ["guide", "pipeline", "hand", "plain", "library", "py-torch", "unsafe-rust"];

fn summary(median: f64) -> Value {
    json!({"median": median, "low": median * 0.99, "high": median * 1.01, "min": median * 0.9, "max": median * 1.2})
}

fn timing(milliseconds: f64) -> Value {
    json!({"milliseconds": summary(milliseconds), "gigabytes_per_second": 2147.5 / milliseconds})
}

fn resources() -> Value {
    json!({"registers": 255, "shared_bytes": 232_448, "blocks_per_multiprocessor": 8, "occupancy": 0.875,
        "bytes_in_flight": 1_048_576})
}

/// A peer that takes `ratio` times as long as ours, which takes a millisecond.
fn peer(name: &str, class: &str, ratio: f64) -> Value {
    json!({
        "name": name, "symbol": format!("{name}_symbol"), "class": class, "timing": timing(ratio), "fault": null,
        "wrong": null, "ratio": summary(ratio), "interval": [ratio * 0.995, ratio * 1.005], "grid": 792, "wanted": 0.99,
        "met": ratio >= 0.99, "resources": resources(),
    })
}

fn row(task: &str, kernel: &str, peers: Vec<Value>) -> Value {
    json!({
        "kernel": kernel, "task": task, "symbol": format!("{kernel}__i32_NeighbourSum_CpAsync_256_4"), "dtype": "i32x4",
        "stages": "4", "threads": 256, "grid": 4096, "inputs": 1, "timing": timing(1.0), "fault": null,
        "resources": resources(), "samples": [[1.0, 1.01], [0.99, 1.0]], "peers": peers,
    })
}

/// All classes, each a little slower than the one before, from this one on.
fn all(first: f64) -> Vec<Value> {
    let name = |class: &str| format!("{class}, whose name is long enough to need a second line in a chart");
    CLASSES
        .iter()
        .enumerate()
        .map(|(nth, class)| peer(&name(class), class, first * (1.0 + 0.004 * nth as f64)))
        .collect()
}

/// Launches and compilations, with long names.
fn costs() -> Value {
    let row = |name: &str, class: &str| {
        json!({"name": name, "class": class, "ptx_seconds": [12.25, 13.5], "code_seconds": [112.25, 113.5],
            "ptx_bytes": 123_456, "code_bytes": 123_456, "cubin_bytes": 1_234_567, "registers": 255})
    };
    json!({
        "launches": [{"date": "2026-11-24T10:00:00Z", "commit": "0123456789abcdef", "command": "launches --bare",
            "gpu": "NVIDIA H200", "launches": 10_000,
            "kernels": [{"kernel": LONG, "checked": [4300.5, 5600.25], "bare": [2300.5, 2600.25]}]}],
        "compile": {"date": "2026-11-24T10:00:00Z", "commit": "0123456789abcdef", "command": "cargo xtask bench --compile",
            "cpu": "a processor with a name of many words", "cores": 128, "note": WORDS,
            "versions": {"nvcc": "13.0.88", "rustc": "1.96.0-nightly"}, "architecture": "sm_90",
            "tasks": [{"name": WORDS, "contestants": [row("tilepipe", "tilepipe"), row(LONG, "hand")]}]},
    })
}

fn rows() -> Vec<Value> {
    let mut wrong = row("wrong", "broken_kernel", vec![peer("CUB", "library", 1.0)]);
    (wrong["timing"], wrong["fault"]) = (Value::Null, json!("element 3 is 1, expected 2; 1 differ"));
    let mut states = all(1.3);
    (states[0]["timing"], states[0]["ratio"], states[0]["fault"]) = (Value::Null, Value::Null, json!("all differ"));
    states[2]["interval"] = json!([1.22, 1.4]);
    states[1]["wrong"] = json!([4_000_000, 183]);
    let far: Vec<Value> =
        [("plain", "plain", 4.0), ("PyTorch", "py-torch", 12.0), ("guide", "guide", 3.0), ("cp.async", "hand", 1.0)]
            .map(|(name, class, ratio)| peer(name, class, ratio))
            .into();
    vec![
        row(WORDS, LONG, all(0.93)),
        row(LONG, LONG, all(1.0)),
        row("far", "scale_own", far),
        row("ahead", "sum", vec![peer("CUB", "library", 25.0), peer("plain", "plain", 90.0)]),
        row("behind", "dot", vec![peer("CUB", "library", 0.2)]),
        row("states", "moving_average", states),
        row("alone", "transpose", Vec::new()),
        wrong,
    ]
}

fn sweep(title: &str, axis: &str, unit: &str, places: &[f64]) -> Value {
    let names = [
        "tilepipe",
        "tilepipe, no asynchronous copy",
        "cuda::pipeline",
        "cp.async by hand",
        "CUB",
        "PyTorch",
        LONG,
        WORDS,
    ];
    let lines = names.iter().enumerate().map(|(nth, name)| {
        let points = places.iter().enumerate().map(|(at, x)| {
            let missing = nth == 1 && at == 1;
            let timing = if missing { Value::Null } else { timing(0.5 + 40.0 / (1.0 + at as f64 * 4.0) + 0.1 * nth as f64) };
            json!({"x": x, "timing": timing, "fault": if missing { json!("element 3 is 1, expected 2") } else { Value::Null }})
        });
        json!({"name": name, "points": points.collect::<Vec<Value>>()})
    });
    json!({"title": title, "axis": axis, "unit": unit, "lines": lines.collect::<Vec<Value>>()})
}

/// One small size: all classes, one of them wrong, each with two grids.
fn small(task: &str, bytes: u64, ratio: f64) -> Value {
    let at = |blocks: &str, milliseconds: f64| {
        json!({"blocks": blocks, "grid": 1_048_576, "timing": timing(milliseconds), "fault": null,
            "samples": [[milliseconds, milliseconds]]})
    };
    let contestant = |nth: usize, class: &str| {
        let milliseconds = 1e-9 * bytes as f64 * (1.0 + 0.01 * nth as f64) * if nth == 0 { ratio } else { 1.0 };
        let mut grids = [at("a block a tile", milliseconds), at("resident blocks", 1.01 * milliseconds)];
        if nth == 3 {
            (grids[1]["timing"], grids[1]["fault"]) = (Value::Null, json!("element 3 is 1, expected 2; 1 differ"));
        }
        json!({"name": format!("{LONG}, {class}, 2 stages, 128 x 4"), "class": class, "symbol": format!("{class}_symbol"),
            "grids": grids, "best": "a block a tile"})
    };
    let classes = std::iter::once("tilepipe").chain(CLASSES).enumerate();
    let pick = |name: &str| json!({"name": name, "blocks": "a block a tile", "grid": 8192, "microseconds": 1e-6 * bytes as f64});
    json!({
        "task": task, "bytes": bytes, "moved": 2 * bytes, "launches": 100, "buffers": 1400,
        "contestants": classes.map(|(nth, class)| contestant(nth, class)).collect::<Vec<Value>>(),
        "ours": pick(LONG), "other": pick(LONG), "ratio": summary(1.0 / ratio), "interval": [0.995 / ratio, 1.005 / ratio],
        "wanted": 0.97, "met": ratio < 1.03,
    })
}

/// Two tasks at five sizes each, of which one is too slow.
fn smalls() -> Vec<Value> {
    let sizes = [(65536, 0.97), (262_144, 1.0), (1_048_576, 1.05), (4_194_304, 1.0), (16_777_216, 1.0)];
    [WORDS, LONG].iter().flat_map(|task| sizes.map(|(bytes, ratio)| small(task, bytes, ratio))).collect()
}

/// Returns it as JSON.
pub fn text() -> String {
    let process = |seed: u64| {
        json!({
            "date": "2026-11-24T10:00:00Z", "commit": "0123456789abcdef0123456789abcdef01234567",
            "command": "./run.sh bench --output a/folder/with/a/long/name/and/no/space/in/it/at/all/bench.json --only everything",
            "seed": seed,
            "conditions": {"looks": 12, "clock_mhz": [1200.0, 1980.0], "memory_mhz": [3201.0, 3201.0],
                "power_watts": [480.25, 698.5], "celsius": [38.0, 61.0],
                "throttled": if seed == 1 { json!(["SW power cap", "HW thermal slowdown"]) } else { json!([]) }},
            "versions": {"nvcc": "13.0.88", "ptxas": "13.0.88", "CCCL": "3.0.2", "rustc": "1.95.0-nightly", "LLVM": "22.1.0"},
        })
    };
    json!({
        "date": "2026-11-24T10:00:00Z", "commit": "0123456789abcdef", "command": "merge a.json b.json", "gpu": "NVIDIA H200",
        "compute_capability": "9.0", "driver": "580.159.04", "bytes": 1_u64 << 30, "repetitions": 150, "copy": timing(0.5),
        "comparisons": rows(),
        "sweeps": [
            sweep("sizes", "size of the input", "bytes", &[65536.0, 262_144.0, 1_048_576.0, 16_777_216.0, 1_073_741_824.0]),
            sweep("with_staging_unified_and_a_title_that_has_no_space_to_break_it_at: stages", "stages", "", &[1.0, 2.0, 3.0, 4.0]),
            sweep("arithmetic", "multiply-adds for each element", "", &[0.0, 8.0, 16.0, 32.0, 48.0, 64.0, 128.0, 256.0]),
            sweep("grid", "blocks", "", &[132.0, 264.0, 528.0, 1056.0, 2112.0, 4224.0, 16896.0]),
        ],
        "sizes": smalls(),
        "processes": [process(0), process(1)],
        "costs": costs(),
    })
    .to_string()
}
