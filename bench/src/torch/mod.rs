//! What `peers/torch_peers.py` writes, as rows of a record: our kernels beside PyTorch and the
//! libraries, on the same tensors and in the same stream.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tilepipe::launch::{Instance, ParameterKind};

use crate::record::{Class, PeerRow, Process, Row, Timing};
use crate::statistics::Summary;

/// One run of the script. What it could not run is in its file, under `left_out`, and in no row.
#[derive(Deserialize)]
struct Run {
    date: String,
    #[serde(default = "unknown")]
    commit: String,
    command: String,
    seed: u64,
    versions: BTreeMap<String, String>,
    results: Vec<Comparison>,
}

/// One task of one size.
#[derive(Deserialize)]
struct Comparison {
    task: String,
    dtype: String,
    elements: u64,
    /// Bytes that a launch reads and writes at least.
    bytes_moved: u64,
    contestants: Vec<Contestant>,
}

#[derive(Deserialize)]
struct Contestant {
    name: String,
    class: Class,
    symbol: String,
    grid: Option<u32>,
    /// Milliseconds of a launch, by round; empty if its results are wrong.
    samples: Vec<f64>,
    /// Wrong elements.
    wrong: u64,
}

fn unknown() -> String {
    "unknown".to_owned()
}

/// Reads a run of the script: the process, and a row for each of our kernels with all the others of
/// its task and size as its peers.
///
/// # Errors
///
/// A text that is no such run; a kernel that we do not have; contestants without the same number of
/// samples, or with times that are none; a task without a kernel of ours, which can have no row.
#[allow(dead_code, reason = "the merging of records is to call it")]
pub fn rows(json: &str) -> Result<(Process, Vec<Row>)> {
    let run: Run = serde_json::from_str(json).context("this is no file of torch_peers.py")?;
    let mut rows = Vec::new();
    for comparison in &run.results {
        let of_this = || format!("`{}` of {} {}", comparison.task, comparison.elements, comparison.dtype);
        comparison.check().with_context(of_this)?;
        for ours in comparison.contestants.iter().filter(|contestant| contestant.class == Class::Tilepipe) {
            rows.push(comparison.row(ours).with_context(of_this)?);
        }
    }
    let Run { date, commit, command, seed, versions, .. } = run;
    Ok((Process { date, commit, command, seed, conditions: None, versions }, rows))
}

impl Comparison {
    /// Checks that the contestants' rounds can be paired, and that one of them is ours.
    fn check(&self) -> Result<()> {
        let timed = || self.contestants.iter().filter(|contestant| contestant.wrong == 0);
        let rounds: BTreeSet<usize> = timed().map(|contestant| contestant.samples.len()).collect();
        ensure!(rounds.len() <= 1 && !rounds.contains(&0), "a contestant lacks samples: the numbers are {rounds:?}");
        for Contestant { name, samples, .. } in timed() {
            let bad = samples.iter().find(|sample| !sample.is_finite() || **sample <= 0.0);
            ensure!(bad.is_none(), "{name} has a sample of {bad:?} milliseconds");
        }
        let is_there = self.contestants.iter().any(|contestant| contestant.class == Class::Tilepipe);
        ensure!(
            is_there,
            "no kernel of ours is among the contestants, and a row is of one; measure it into another file"
        );
        Ok(())
    }

    /// Makes the row of one of our kernels.
    fn row(&self, ours: &Contestant) -> Result<Row> {
        let instance = find(&ours.symbol)?;
        let inputs = instance.parameters().filter(|(_, info)| info.kind == ParameterKind::Input).count();
        let others = self.contestants.iter().filter(|contestant| contestant.class != Class::Tilepipe);
        Ok(Row {
            kernel: instance.kernel().to_owned(),
            task: self.text(),
            symbol: ours.symbol.clone(),
            dtype: self.dtype.clone(),
            stages: instance.generic("STAGES").map(str::to_owned),
            threads: instance.threads(),
            grid: ours.grid.with_context(|| format!("{} has no grid", ours.symbol))?,
            inputs,
            timing: ours.timing(self.bytes_moved),
            fault: ours.fault(),
            resources: None,
            samples: ours.rounds(),
            peers: others.map(|other| self.peer(other, ours)).collect(),
        })
    }

    /// Makes the row of another contestant, whose time is compared with ours round by round.
    fn peer(&self, other: &Contestant, ours: &Contestant) -> PeerRow {
        let both = other.wrong == 0 && ours.wrong == 0;
        let ratio = both.then(|| Summary::of_ratios(&other.samples, &ours.samples)).flatten();
        PeerRow {
            name: other.name.clone(),
            symbol: other.symbol.clone(),
            timing: other.timing(self.bytes_moved),
            fault: other.fault(),
            wrong: None,
            ratio,
            interval: None,
            class: Some(other.class),
            grid: other.grid,
            samples: other.rounds(),
            wanted: None,
            met: ratio.is_some(),
            resources: None,
        }
    }

    /// What is computed, with the size: rows of two sizes are not to be compared, nor are they with
    /// those of the launches that `measure` times one by one.
    fn text(&self) -> String {
        let elements = match self.elements.checked_ilog2() {
            Some(log2) if self.elements.is_power_of_two() => format!("2^{log2}"),
            _ => self.elements.to_string(),
        };
        format!("{} of {elements} elements, in graphs", self.task)
    }
}

impl Contestant {
    fn timing(&self, bytes: u64) -> Option<Timing> {
        if self.wrong == 0 { Timing::of(&self.samples, bytes) } else { None }
    }

    fn fault(&self) -> Option<String> {
        (self.wrong > 0).then(|| format!("{} elements are wrong", self.wrong))
    }

    /// The samples of the one process that there is; none if the results are wrong.
    fn rounds(&self) -> Vec<Vec<f64>> {
        if self.wrong == 0 { vec![self.samples.clone()] } else { Vec::new() }
    }
}

/// Finds one of our instances by its name.
fn find(name: &str) -> Result<&'static Instance> {
    let mut all = tilepipe_kernels::registry().into_iter().flatten();
    all.find(|instance| instance.name() == name).with_context(|| format!("there is no kernel `{name}`"))
}

#[cfg(test)]
mod tests;
