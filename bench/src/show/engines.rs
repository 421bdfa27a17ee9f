//! What a record says of engines, for a terminal: `tilepipe-bench engines FILE.json`.

use anyhow::{Result, ensure};

use crate::plan::bulk::engines::{BULK, CP_ASYNC, FEW, TITLE};
use crate::plan::bulk::{BY_HAND, ISSUER_FENCE, NO_FENCE};
use crate::record::{PeerRow, Report, Row, Sweep};
use crate::show::table::{headed, number};
use crate::statistics::{Summary, interval};

/// Columns of what fences cost.
const FENCES: [&str; 8] = [
    "kernel",
    "blocks",
    "ours, ms",
    "by hand, ms",
    "no fence, ms",
    "the issuer's, ms",
    "readers' fence costs (95 %)",
    "the issuer's costs (95 %)",
];

/// Returns the rates of all engines, the best of each kind where few warps are resident, and what
/// fences cost.
///
/// # Errors
///
/// A record without sweeps over engines and without fences.
pub fn text(report: &Report) -> Result<String> {
    let sweeps: Vec<(&str, &Sweep)> = report.sweeps.iter().filter_map(|sweep| Some((shape(sweep)?, sweep))).collect();
    let fences = fences(report);
    ensure!(
        !(sweeps.is_empty() && fences.is_empty()),
        "the record has nothing of engines; `measure --engines` writes one that has"
    );
    let mut parts = vec![report.head()];
    if !sweeps.is_empty() {
        parts.push(format!("GB/s\n{}", rates(&sweeps)));
        parts.extend(FEW.iter().filter_map(|blocks| best(&sweeps, &blocks.text())));
    }
    if !fences.is_empty() {
        parts.push(fences);
    }
    Ok(parts.join("\n\n"))
}

/// The stages and blocks of a sweep over engines; none of another sweep.
fn shape(sweep: &Sweep) -> Option<&str> {
    sweep.title.strip_prefix(TITLE[0])?.strip_suffix(TITLE[1])
}

/// A row for each size of a tile, number of stages and number of blocks.
fn rates(sweeps: &[(&str, &Sweep)]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for line in sweeps.iter().flat_map(|(_, sweep)| &sweep.lines) {
        if !names.contains(&line.name.as_str()) {
            names.push(&line.name);
        }
    }
    let headings = ["stages, blocks", "tile, KiB"].into_iter().chain(names.iter().copied());
    let mut table = headed(headings.chain(["best cp.async / Bulk"]));
    for (shape, sweep) in sweeps {
        for x in sweep.places() {
            let point = |name: &str| sweep.line(name)?.at(x);
            let rate = |name: &str| {
                point(name).map_or_else(String::new, |point| match (&point.timing, &point.fault) {
                    (Some(timing), _) => format!("{:.0}", timing.gigabytes_per_second),
                    (None, Some(_)) => "WRONG".to_owned(),
                    (None, None) => String::new(),
                })
            };
            let time = |name: &str| point(name)?.milliseconds();
            let other = CP_ASYNC.into_iter().filter_map(time).reduce(f64::min);
            let ratio = other.zip(time(BULK)).map_or_else(String::new, |(other, own)| format!("{:.3}", other / own));
            let cells = [(*shape).to_owned(), x.to_string()].into_iter();
            table.add_row(cells.chain(names.iter().map(|name| rate(name))).chain([ratio]).map(number));
        }
    }
    table.to_string()
}

/// The best shape of the copy engine with so many blocks beside the best of all with `cp.async`;
/// none where one has no time.
fn best(sweeps: &[(&str, &Sweep)], blocks: &str) -> Option<String> {
    let of_blocks = || sweeps.iter().filter(|(shape, _)| shape.ends_with(&format!(", {blocks}")));
    let fastest = |names: &[&str]| {
        let lines = of_blocks().flat_map(|(shape, sweep)| sweep.lines.iter().map(move |line| (*shape, line)));
        let points = lines.filter(|(_, line)| names.contains(&line.name.as_str())).flat_map(|(shape, line)| {
            line.points.iter().filter_map(move |point| {
                let stages = shape.split(',').next()?;
                Some((point.milliseconds()?, format!("{}, {stages}, {} KiB", line.name, point.x)))
            })
        });
        points.min_by(|one, other| one.0.total_cmp(&other.0))
    };
    let (own, own_name) = fastest(&[BULK])?;
    let (other, other_name) = fastest(&CP_ASYNC)?;
    let ratio = other / own;
    Some(format!("{blocks}: {own_name}: {own:.4} ms; {other_name}: {other:.4} ms; {ratio:.3} times as fast"))
}

/// What the fence of the threads that read costs, and that of the one that fills; empty where it
/// was not measured.
fn fences(report: &Report) -> String {
    let mut table = headed(FENCES);
    for row in &report.comparisons {
        let of = |name: &str| row.peers.iter().find(|peer| peer.name == name);
        let [Some(readers), Some(none), Some(issuer)] = [BY_HAND, NO_FENCE.text, ISSUER_FENCE.text].map(of) else {
            continue;
        };
        let time = |peer: &PeerRow| milliseconds(peer.right_milliseconds());
        let times = [milliseconds(row.right_milliseconds()), time(readers), time(none), time(issuer)];
        let costs = [readers, issuer].map(|fenced| cost(fenced, none));
        let what = [instance(row).to_owned(), row.grid.to_string()];
        table.add_row(what.into_iter().chain(times).chain(costs).map(number));
    }
    if table.row_iter().next().is_some() { table.to_string() } else { String::new() }
}

/// The generic arguments in an entry's name.
fn instance(row: &Row) -> &str {
    row.symbol.split_once("__").map_or(row.symbol.as_str(), |(_, arguments)| arguments)
}

fn milliseconds(time: Option<f64>) -> String {
    time.map_or_else(String::new, |time| format!("{time:.4}"))
}

/// By how many percent one takes longer, pair by pair, and the ends of the interval; empty where
/// one has no time.
fn cost(fenced: &PeerRow, none: &PeerRow) -> String {
    let right = fenced.right_milliseconds().and(none.right_milliseconds());
    let ratio = right.and_then(|_| Summary::of_ratios(&fenced.samples.concat(), &none.samples.concat()));
    let ends = interval::of_pairs(&fenced.samples, &none.samples);
    let percent = |ratio: f64| format!("{:+.2}", 100.0 * (ratio - 1.0));
    ratio.zip(ends).map_or_else(String::new, |(ratio, [low, high])| {
        format!("{} % ({} to {})", percent(ratio.median), percent(low), percent(high))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::example;
    use crate::record::{Line, Point};

    /// A line with a time at each place.
    fn line(name: &str, times: &[(f64, f64)]) -> Line {
        let points = times.iter().map(|(x, milliseconds)| Point {
            x: *x,
            timing: None,
            fault: None,
            moved: 1 << 30,
            samples: vec![vec![*milliseconds; 3]],
        });
        let mut points: Vec<Point> = points.collect();
        points.iter_mut().for_each(Point::derive);
        Line { name: name.to_owned(), points }
    }

    fn sweep(shape: &str, lines: Vec<Line>) -> Sweep {
        let title = format!("{}{shape}{}", TITLE[0], TITLE[1]);
        Sweep { title, axis: "size of a tile".to_owned(), unit: "KiB".to_owned(), lines }
    }

    fn engines() -> Report {
        let few = [
            sweep(
                "1 stage, 132 blocks",
                vec![line(BULK, &[(2.0, 4.0), (16.0, 2.0)]), line(CP_ASYNC[0], &[(2.0, 5.0)])],
            ),
            sweep("2 stages, 132 blocks", vec![line(BULK, &[(2.0, 3.0)]), line(CP_ASYNC[1], &[(2.0, 2.5)])]),
            sweep("1 stage, resident blocks", vec![line(BULK, &[(2.0, 0.5)]), line(CP_ASYNC[0], &[(2.0, 0.25)])]),
        ];
        let mut report = example();
        report.sweeps.extend(few);
        report
    }

    #[test]
    fn each_tile_has_its_rates_and_the_ratio_to_the_best_with_cp_async() {
        let text = text(&engines()).unwrap();
        let row = |shape: &str, x: &str| {
            let cells = |line: &str| line.split('┆').map(|cell| cell.trim_matches(['│', ' ']).to_owned()).collect();
            let mut rows = text.lines().map(cells).filter(|cells: &Vec<String>| cells.len() > 4);
            rows.find(|cells| cells[0] == shape && cells[1] == x).unwrap_or_else(|| panic!("{text}"))
        };
        assert_eq!(row("1 stage, 132 blocks", "2")[2..], ["268", "215", "", "1.250"]);
        assert_eq!(row("1 stage, 132 blocks", "16")[2..], ["537", "", "", ""]);
        assert_eq!(row("2 stages, 132 blocks", "2")[2..], ["358", "", "429", "0.833"]);
        assert!(!text.contains("C++ & co"), "another sweep is none of engines: {text}");
    }

    #[test]
    fn with_few_blocks_the_best_of_all_tiles_and_stages_are_compared() {
        let text = text(&engines()).unwrap();
        let line = text.lines().find(|line| line.starts_with("132 blocks:")).unwrap();
        assert!(line.contains("tilepipe, Bulk, 1 stage, 16 KiB: 2.0000 ms"), "{line}");
        assert!(line.contains("cp.async by hand, 2 stages, 2 KiB: 2.5000 ms; 1.250 times as fast"), "{line}");
        assert!(!text.contains("264 blocks:"), "there are none: {text}");
    }

    #[test]
    fn the_cost_of_a_fence_is_that_over_the_same_kernel_without() {
        let mut report = example();
        let named = |name: &str, samples: Vec<f64>| PeerRow {
            name: name.to_owned(),
            fault: None,
            wrong: None,
            samples: vec![samples],
            ..report.comparisons[0].peers[0].clone()
        };
        let peers = vec![
            named(BY_HAND, vec![1.01, 2.02]),
            named(NO_FENCE.text, vec![1.0, 2.0]),
            named(ISSUER_FENCE.text, vec![0.99, 1.98]),
        ];
        report.comparisons[0].peers = peers;
        report.comparisons[0].samples = vec![vec![1.0, 2.0]];
        report.comparisons[0].derive();
        let text = fences(&report);
        assert!(text.contains("+1.00 % (+1.00 to +1.00)") && text.contains("-1.00 % (-1.00 to -1.00)"), "{text}");
        report.comparisons[0].peers[1].fault = Some("element 1 is 2, expected 3".to_owned());
        report.comparisons[0].derive();
        assert!(!fences(&report).contains("+1.00"), "a wrong one has no time");
    }

    #[test]
    fn a_record_of_something_else_is_refused() {
        let error = text(&example()).unwrap_err().to_string();
        assert!(error.contains("measure --engines"), "{error}");
    }
}
