//! The results: JSON for the record, a table for people.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;

use crate::catalog::Comparison;
use crate::measure::Times;
use crate::statistics::Summary;

/// One run of the program. Times are in milliseconds, rates in 10^9 bytes a second, read and written.
#[derive(Debug, Serialize)]
pub struct Report {
    /// When it began, UTC.
    pub date: String,
    /// The commit that was measured.
    pub commit: String,
    /// The command that was typed.
    pub command: String,
    /// The GPU's name.
    pub gpu: String,
    /// Its compute capability, for example `9.0`.
    pub compute_capability: String,
    /// The driver's version.
    pub driver: String,
    /// Bytes that each kernel reads, and as many that it writes.
    pub bytes: u64,
    /// Timed launches of each kernel.
    pub repetitions: usize,
    /// The driver's own copy of as many bytes.
    pub copy: Option<Timing>,
    /// Every kernel with its peers.
    pub comparisons: Vec<Row>,
}

/// The time of one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// Milliseconds a launch.
    pub milliseconds: Summary,
    /// The rate at the median.
    pub gigabytes_per_second: f64,
}

/// One kernel of ours, and its peers.
#[derive(Debug, Serialize)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// Its entry.
    pub symbol: String,
    /// The element type.
    pub dtype: String,
    /// The number of stages where the kernel leaves it open.
    pub stages: Option<String>,
    /// Threads a block.
    pub threads: u32,
    /// Blocks.
    pub grid: u32,
    /// Its time; none if its results are wrong.
    pub timing: Option<Timing>,
    /// What is wrong with its results.
    pub fault: Option<String>,
    /// The others.
    pub peers: Vec<PeerRow>,
}

/// One peer of a kernel.
#[derive(Debug, Serialize)]
pub struct PeerRow {
    /// What it is.
    pub name: String,
    /// Its entry.
    pub symbol: String,
    /// Its time; none if its results are wrong.
    pub timing: Option<Timing>,
    /// What is wrong with its results.
    pub fault: Option<String>,
    /// Its time over ours, pair by pair: above 1 ours is faster.
    pub ratio: Option<Summary>,
    /// The least ratio wanted.
    pub wanted: Option<f64>,
    /// Whether the median ratio is at least that; true where nothing is wanted.
    pub met: bool,
}

impl Timing {
    /// Summarises the milliseconds of launches that read `bytes` bytes and write as many.
    pub fn of(milliseconds: &[f64], bytes: u64) -> Option<Timing> {
        let milliseconds = Summary::of(milliseconds)?;
        Some(Timing { milliseconds, gigabytes_per_second: 2.0 * bytes as f64 / (milliseconds.median * 1e6) })
    }
}

impl Row {
    /// Makes a row of what was measured: `times` has ours first, then each peer's.
    pub fn new(comparison: &Comparison, times: &[Times], bytes: u64) -> Row {
        let missing: Times = Err("it was not measured".to_owned());
        let at = |number: usize| times.get(number).unwrap_or(&missing);
        let timing = |times: &Times| times.as_ref().ok().and_then(|times| Timing::of(times, bytes));
        let ours = at(0);
        let peers = comparison.peers.iter().enumerate().map(|(number, peer)| {
            let theirs = at(number + 1);
            let ratio = match (theirs, ours) {
                (Ok(theirs), Ok(ours)) => Summary::of_ratios(theirs, ours),
                _ => None,
            };
            PeerRow {
                name: peer.name.to_owned(),
                symbol: peer.instance.symbol().to_owned(),
                timing: timing(theirs),
                fault: theirs.as_ref().err().cloned(),
                ratio,
                wanted: peer.wanted,
                met: ratio.is_some_and(|ratio| peer.wanted.is_none_or(|wanted| ratio.median >= wanted)),
            }
        });
        Row {
            kernel: comparison.ours.kernel().to_owned(),
            symbol: comparison.ours.symbol().to_owned(),
            dtype: comparison.dtype.to_string(),
            stages: comparison.ours.generic("STAGES").map(str::to_owned),
            threads: comparison.ours.threads(),
            grid: comparison.grid,
            timing: timing(ours),
            fault: ours.as_ref().err().cloned(),
            peers: peers.collect(),
        }
    }
}

impl Report {
    /// Returns a line for each wrong result and each ratio below what is wanted; empty if all is well.
    pub fn failures(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for row in &self.comparisons {
            let wrong = |symbol: &str, fault: &String| format!("{symbol} is wrong at grid {}: {fault}", row.grid);
            lines.extend(row.fault.iter().map(|fault| wrong(&row.symbol, fault)));
            for peer in &row.peers {
                lines.extend(peer.fault.iter().map(|fault| wrong(&peer.symbol, fault)));
                if let (Some(ratio), Some(wanted), false) = (peer.ratio, peer.wanted, peer.met) {
                    let (ours, theirs, grid, ratio) = (&row.symbol, &peer.symbol, row.grid, ratio.median);
                    lines.push(format!(
                        "{ours} is {ratio:.3}x as fast as {theirs} at grid {grid}; {wanted:.2}x is wanted"
                    ));
                }
            }
        }
        lines
    }

    /// Returns the table: under each of our kernels its peers, each with the ratio of its time to ours.
    pub fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(UTF8_FULL_CONDENSED);
        table.set_header(["kernel", "type", "stages", "grid", "ms", "spread", "GB/s", "peer / ours", "wanted", ""]);
        if let Some(copy) = &self.copy {
            table.add_row(cells(["copy by the driver", "", "", ""], Some(copy), ["", "", ""]));
        }
        for row in &self.comparisons {
            let grid = row.grid.to_string();
            let stages = row.stages.as_deref().unwrap_or("");
            let state = if row.fault.is_some() { "WRONG" } else { "" };
            table.add_row(cells([&row.kernel, &row.dtype, stages, &grid], row.timing.as_ref(), ["", "", state]));
            for peer in &row.peers {
                let state = match (&peer.fault, peer.met) {
                    (Some(_), _) => "WRONG",
                    (None, false) => "BELOW",
                    (None, true) => "",
                };
                let ratio = peer.ratio.map_or_else(String::new, |ratio| {
                    format!("{:.3} ({:.3} to {:.3})", ratio.median, ratio.low, ratio.high)
                });
                let wanted = peer.wanted.map_or_else(String::new, |wanted| format!("{wanted:.2}"));
                let name = format!("  {}: {}", peer.name, peer.symbol);
                table.add_row(cells([&name, "", "", ""], peer.timing.as_ref(), [&ratio, &wanted, state]));
            }
        }
        table
    }
}

fn cells(what: [&str; 4], timing: Option<&Timing>, result: [&str; 3]) -> Vec<Cell> {
    let time = timing.map_or_else(Default::default, |timing| {
        let Timing { milliseconds, gigabytes_per_second } = timing;
        let (median, spread) = (milliseconds.median, milliseconds.spread_percent());
        [format!("{median:.4}"), format!("{spread:.1} %"), format!("{gigabytes_per_second:.0}")]
    });
    let numbers = time.iter().map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
    what.into_iter().map(Cell::new).chain(numbers).chain(result.into_iter().map(Cell::new)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::comparisons;

    fn report(times: &[Times]) -> Report {
        let comparisons = comparisons().unwrap();
        Report {
            date: String::new(),
            commit: String::new(),
            command: String::new(),
            gpu: "a GPU".to_owned(),
            compute_capability: "9.0".to_owned(),
            driver: String::new(),
            bytes: 1 << 30,
            repetitions: 2,
            copy: Timing::of(&[0.5, 0.5], 1 << 30),
            comparisons: vec![Row::new(&comparisons[0], times, 1 << 30)],
        }
    }

    #[test]
    fn the_json_has_times_rates_and_ratios() {
        let one = || Ok(vec![1.0, 1.0]);
        let report = report(&[one(), Ok(vec![2.0, 2.0]), one(), one()]);
        let json = serde_json::to_value(&report).unwrap();
        let row = &json["comparisons"][0];
        assert_eq!((row["kernel"].as_str(), row["grid"].as_u64()), (Some("with_staging_unified"), Some(4096)));
        assert_eq!(row["timing"]["milliseconds"]["median"], 1.0);
        assert_eq!(row["timing"]["gigabytes_per_second"], 2.147_483_648e3);
        assert_eq!(row["peers"][0]["ratio"]["median"], 2.0);
        assert_eq!(row["peers"][0]["met"], true);
        assert_eq!(json["copy"]["milliseconds"]["median"], 0.5);
        assert_eq!(report.failures(), [""; 0]);
    }

    #[test]
    fn a_slow_or_wrong_kernel_is_named_and_a_wrong_one_has_no_time() {
        let wrong = || Err("element 3 is 1, expected 2; 1 differ".to_owned());
        let report = report(&[Ok(vec![1.0]), Ok(vec![1.5]), wrong(), wrong()]);
        let peers = &report.comparisons[0].peers;
        assert!(!peers[0].met && peers[1].timing.is_none() && !peers[1].met);
        let failures = report.failures();
        assert!(failures[0].contains("1.500x as fast as pipeline_i32_2"), "{failures:?}");
        assert!(failures[1].contains("twin_i32_2 is wrong at grid 4096: element 3"), "{failures:?}");
        let table = report.table().to_string();
        assert!(table.contains("BELOW") && table.contains("WRONG"), "{table}");
    }
}
