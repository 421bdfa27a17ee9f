//! The results: JSON for the record, a table for people.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;

use crate::catalog::Comparison;
use crate::measure::Outcome;
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
    /// Bytes of each input and of the output of a kernel.
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
    /// The number of inputs.
    pub inputs: usize,
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
    /// For a peer that races, and has a time all the same: the wrong elements in the run before the timed ones and in the run
    /// after them.
    pub wrong: Option<[usize; 2]>,
    /// Its time over ours, pair by pair: above 1 ours is faster.
    pub ratio: Option<Summary>,
    /// The least ratio wanted.
    pub wanted: Option<f64>,
    /// Whether the median ratio is at least that; true where nothing is wanted.
    pub met: bool,
}

impl Timing {
    /// Summarises the milliseconds of launches that read and write `bytes` bytes in all.
    pub fn of(milliseconds: &[f64], bytes: u64) -> Option<Timing> {
        let milliseconds = Summary::of(milliseconds)?;
        Some(Timing { milliseconds, gigabytes_per_second: bytes as f64 / (milliseconds.median * 1e6) })
    }
}

impl Row {
    /// Makes a row of what was measured: `outcomes` has ours first, then each peer's; `bytes` are those of one input.
    pub fn new(comparison: &Comparison, outcomes: &[Outcome], bytes: u64) -> Row {
        let missing: Outcome = Err("it was not measured".to_owned());
        let at = |number: usize| outcomes.get(number).unwrap_or(&missing);
        let inputs = comparison.work.inputs();
        let moved = bytes * (inputs as u64 + 1);
        let timing = |outcome: &Outcome| outcome.as_ref().ok().and_then(|one| Timing::of(&one.milliseconds, moved));
        let ours = at(0);
        let peers = comparison.peers.iter().enumerate().map(|(number, peer)| {
            let theirs = at(number + 1);
            let ratio = match (theirs, ours) {
                (Ok(theirs), Ok(ours)) => Summary::of_ratios(&theirs.milliseconds, &ours.milliseconds),
                _ => None,
            };
            PeerRow {
                name: peer.name.to_owned(),
                symbol: peer.instance.symbol().to_owned(),
                timing: timing(theirs),
                fault: theirs.as_ref().err().cloned(),
                wrong: theirs.as_ref().ok().filter(|_| peer.racing).map(|theirs| theirs.wrong),
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
            inputs,
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
                let state = match (&peer.fault, peer.met, peer.wrong) {
                    (Some(_), ..) => "WRONG".to_owned(),
                    (None, false, _) => "BELOW".to_owned(),
                    (None, true, Some([before, after])) => format!("RACES: {before} and {after} wrong"),
                    (None, true, None) => String::new(),
                };
                let ratio = peer.ratio.map_or_else(String::new, |ratio| {
                    format!("{:.3} ({:.3} to {:.3})", ratio.median, ratio.low, ratio.high)
                });
                let wanted = peer.wanted.map_or_else(String::new, |wanted| format!("{wanted:.2}"));
                let name = format!("  {}: {}", peer.name, peer.symbol);
                table.add_row(cells([&name, "", "", ""], peer.timing.as_ref(), [&ratio, &wanted, &state]));
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
    use crate::measure::Measurement;
    use crate::pairings;
    use crate::work::Work;

    /// The first comparison: `with_staging_unified` and three peers, of which the second is made to race.
    fn comparison() -> Comparison {
        let mut comparison = pairings::all().swap_remove(0).resolve().unwrap();
        comparison.peers[1].racing = true;
        comparison
    }

    fn report(comparison: &Comparison, outcomes: &[Outcome]) -> Report {
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
            comparisons: vec![Row::new(comparison, outcomes, 1 << 30)],
        }
    }

    fn timed(milliseconds: &[f64]) -> Outcome {
        Ok(Measurement { milliseconds: milliseconds.to_vec(), wrong: [0, 0] })
    }

    #[test]
    fn the_json_has_times_rates_and_ratios() {
        let one = || timed(&[1.0, 1.0]);
        let report = report(&comparison(), &[one(), timed(&[2.0, 2.0]), one(), one()]);
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
        let report = report(&comparison(), &[timed(&[1.0]), timed(&[1.5]), wrong(), wrong()]);
        let peers = &report.comparisons[0].peers;
        assert!(!peers[0].met && peers[1].timing.is_none() && !peers[1].met);
        let failures = report.failures();
        assert!(failures[0].contains("1.500x as fast as pipeline_i32_2"), "{failures:?}");
        assert!(failures[1].contains("twin_i32_2 is wrong at grid 4096: element 3"), "{failures:?}");
        let table = report.table().to_string();
        assert!(table.contains("BELOW") && table.contains("WRONG"), "{table}");
    }

    #[test]
    fn a_peer_that_races_has_a_time_and_its_wrong_elements_and_is_no_failure() {
        let races = Ok(Measurement { milliseconds: vec![1.0], wrong: [13, 210] });
        let report = report(&comparison(), &[timed(&[1.0]), timed(&[2.0]), races, timed(&[1.0])]);
        let json = serde_json::to_value(&report).unwrap();
        let peers = &json["comparisons"][0]["peers"];
        assert_eq!(peers[1]["wrong"], serde_json::json!([13, 210]));
        assert_eq!(
            (&peers[1]["ratio"]["median"], &peers[2]["wrong"]),
            (&serde_json::json!(1.0), &serde_json::Value::Null)
        );
        assert_eq!(report.failures(), [""; 0]);
        let table = report.table().to_string();
        assert!(table.contains("RACES: 13 and 210 wrong"), "{table}");
    }

    #[test]
    fn every_input_counts_in_the_rate() {
        let two = Comparison { work: Work::TwoInputs, ..comparison() };
        let report = report(&two, &[timed(&[1.0])]);
        let row = &report.comparisons[0];
        assert_eq!((row.inputs, row.timing.as_ref().unwrap().gigabytes_per_second), (2, 3.0 * 1.073_741_824e3));
    }
}
