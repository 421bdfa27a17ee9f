//! From what was measured to the record, and what in it is wrong or too slow.

use tilepipe_runner::work::Shape;

use crate::balance::{self, Balance};
use crate::measure::{Outcome, shape};
use crate::plan::catalog::Comparison;
use crate::record::small::Small;
use crate::record::{PeerRow, Point, Report, Row, Timing};
use crate::statistics::{Summary, interval};

/// Summarises the launches of all processes, which read and write `bytes` bytes each; none if the
/// results of one are wrong.
fn timing(fault: Option<&String>, samples: &[Vec<f64>], bytes: u64) -> Option<Timing> {
    if fault.is_none() { Timing::of(&samples.concat(), bytes) } else { None }
}

impl PeerRow {
    /// Makes the row of a peer that does not race, of what was measured of it; what follows from it
    /// and from ours is left to [`Row::derive`].
    pub fn new(name: &str, symbol: &str, wanted: Option<f64>, outcome: &Outcome) -> PeerRow {
        PeerRow {
            name: name.to_owned(),
            symbol: symbol.to_owned(),
            timing: None,
            fault: outcome.as_ref().err().cloned(),
            wrong: None,
            ratio: None,
            interval: None,
            class: None,
            grid: None,
            samples: samples(outcome),
            wanted,
            met: false,
            resources: None,
        }
    }
}

/// What one process measured of a contestant, as a record has it: nothing of one that is wrong.
pub fn samples(outcome: &Outcome) -> Vec<Vec<f64>> {
    vec![outcome.as_ref().map(|measured| measured.milliseconds.clone()).unwrap_or_default()]
}

/// The bytes that a launch in so many blocks reads and writes, whose first input has `bytes` bytes.
fn moved(comparison: &Comparison, grid: u32, bytes: u64) -> u64 {
    let (work, dtype) = (comparison.work, comparison.dtype);
    let first = shape(work.kind, bytes as usize / dtype.bytes());
    let read: usize = work.inputs(first, grid as usize).into_iter().map(Shape::elements).sum();
    let written = work.output(first, grid as usize).elements();
    (read * dtype.bytes() + written * work.kind.output_type(dtype).bytes()) as u64
}

impl Row {
    /// Makes a row of what was measured: `outcomes` has ours first, then each peer's, `grids` the
    /// blocks of each; `bytes` are those of one input.
    pub fn new(comparison: &Comparison, grids: &[u32], outcomes: &[Outcome], bytes: u64) -> Row {
        let missing: Outcome = Err("it was not measured".to_owned());
        let at = |number: usize| outcomes.get(number).unwrap_or(&missing);
        let inputs = comparison.work.kind.inputs();
        let ours = at(0);
        let grid = grids.first().copied().unwrap_or_default();
        let peers = comparison.peers.iter().enumerate().map(|(number, peer)| {
            let theirs = at(number + 1);
            PeerRow {
                wrong: theirs.as_ref().ok().filter(|_| peer.racing).map(|theirs| theirs.wrong),
                class: Some(peer.class),
                grid: grids.get(number + 1).copied().filter(|theirs| *theirs != grid),
                ..PeerRow::new(peer.name, peer.instance.name(), peer.wanted, theirs)
            }
        });
        let mut row = Row {
            kernel: comparison.ours.kernel().to_owned(),
            task: comparison.work.task(),
            symbol: comparison.ours.name().to_owned(),
            dtype: comparison.dtype.to_string(),
            stages: comparison.ours.generic("STAGES").map(str::to_owned),
            threads: comparison.ours.threads(),
            grid,
            inputs,
            moved: moved(comparison, grid, bytes),
            timing: None,
            fault: ours.as_ref().err().cloned(),
            resources: None,
            samples: samples(ours),
            peers: peers.collect(),
        };
        row.derive();
        row
    }

    /// Works out what follows from the samples of ours and of the peers, and from the bytes that a
    /// launch moves. A contestant with a fault has no time.
    pub fn derive(&mut self) {
        self.timing = timing(self.fault.as_ref(), &self.samples, self.moved);
        for peer in &mut self.peers {
            peer.timing = timing(peer.fault.as_ref(), &peer.samples, self.moved);
            let both = peer.timing.is_some() && self.timing.is_some();
            let sides = both.then_some((&peer.samples, &self.samples));
            peer.ratio = sides.and_then(|(theirs, ours)| Summary::of_ratios(&theirs.concat(), &ours.concat()));
            peer.interval = sides.and_then(|(theirs, ours)| interval::of_pairs(theirs, ours));
            let is_enough = |ratio: Summary| peer.wanted.is_none_or(|wanted| ratio.median >= wanted);
            peer.met = peer.ratio.is_some_and(is_enough);
        }
    }
}

impl Point {
    /// Makes the point of what one process measured there.
    pub fn new(x: f64, outcome: &Outcome, moved: u64) -> Point {
        let fault = outcome.as_ref().err().cloned();
        let mut point = Point { x, timing: None, fault, moved, samples: samples(outcome) };
        point.derive();
        point
    }

    /// Works out what follows from its samples and from the bytes that a launch moves.
    pub fn derive(&mut self) {
        self.timing = timing(self.fault.as_ref(), &self.samples, self.moved);
    }
}

impl Report {
    /// Returns a line for each wrong result and each ratio below what is wanted; empty if all is
    /// well.
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
        lines.extend(self.sizes.iter().flat_map(Small::failures));
        for sweep in &self.sweeps {
            if let Some((ratio, place)) = Balance::of(sweep).and_then(|balance| balance.short()) {
                lines.push(format!(
                    "ours is {ratio:.3}x as fast as without asynchronous copies at the balance of `{}`, {place:.1} multiply-adds; \
                     {:.2}x is wanted",
                    sweep.title,
                    balance::WANTED
                ));
            }
            for line in &sweep.lines {
                let faults = line.points.iter().filter_map(|point| Some((point.x, point.fault.as_ref()?)));
                lines.extend(
                    faults.map(|(x, fault)| format!("{} of `{}` is wrong at {x}: {fault}", line.name, sweep.title)),
                );
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::balance::tests::{invented, short};
    use crate::measure::Measurement;
    use crate::plan::pairings;
    use crate::show::table;
    use tilepipe_runner::work::{Kind, Work};

    /// The first comparison: `with_staging_unified` and three peers, of which the second is made to
    /// race.
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
            comparisons: vec![Row::new(comparison, &[4096; 5], outcomes, 1 << 30)],
            sweeps: Vec::new(),
            sizes: Vec::new(),
            processes: Vec::new(),
            costs: Default::default(),
        }
    }

    fn timed(milliseconds: &[f64]) -> Outcome {
        Ok(Measurement { milliseconds: milliseconds.to_vec(), wrong: [0, 0] })
    }

    #[test]
    fn a_launch_moves_its_inputs_and_what_it_writes() {
        let moved = |kernel: &str| {
            let all = crate::plan::bulk::tensor::all();
            let pairing = all.into_iter().find(|pairing| pairing.kernel == kernel).unwrap();
            Row::new(&pairing.resolve().unwrap(), &[], &[], 1 << 28).moved
        };
        assert_eq!(["copy_tma", "column_sums"].map(moved), [1 << 29, (1 << 28) + 4 * (1 << 13)]);
        assert_eq!(Row::new(&comparison(), &[], &[], 1 << 28).moved, 1 << 29);
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
        let table = table::comparisons(&report).to_string();
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
        let table = table::comparisons(&report).to_string();
        assert!(table.contains("RACES: 13 and 210 wrong"), "{table}");
    }

    #[test]
    fn too_little_gain_at_the_balance_of_copy_and_arithmetic_is_named() {
        let with = |sweep| Report { sweeps: vec![sweep], ..report(&comparison(), &[]) }.failures();
        let of_sweep = |failures: Vec<String>| failures.into_iter().filter(|failure| failure.contains("invented"));
        let failures: Vec<String> = of_sweep(with(short())).collect();
        assert!(failures[0].contains("1.400x") && failures[0].contains("16.0 multiply-adds; 1.50x"), "{failures:?}");
        assert_eq!(of_sweep(with(invented())).count(), 0);
    }

    #[test]
    fn every_input_counts_in_the_rate() {
        let two = Comparison { work: Work { kind: Kind::TwoInputs, ..comparison().work }, ..comparison() };
        let report = report(&two, &[timed(&[1.0])]);
        let row = &report.comparisons[0];
        assert_eq!((row.inputs, row.timing.as_ref().unwrap().gigabytes_per_second), (2, 3.0 * 1.073_741_824e3));
    }
}
