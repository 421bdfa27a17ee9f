//! What `peers/torch_peers.py` writes, as rows of a record: our kernels beside PyTorch and the
//! libraries, on the same tensors and in the same stream.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tilepipe::launch::{Instance, ParameterKind};

use crate::record::{Class, Conditions, PeerRow, Process, Row};

/// What one run of the script comes to.
#[derive(Debug)]
pub struct Measured {
    /// The GPU's name.
    pub gpu: String,
    /// The process that measured.
    pub process: Process,
    /// A row for each of our kernels, task and size, with all the others as its peers.
    pub rows: Vec<Row>,
}

/// One run of the script. What it could not run is in its file, under `left_out`, and in no row.
#[derive(Deserialize)]
struct Run {
    date: String,
    gpu: String,
    #[serde(default = "unknown")]
    commit: String,
    command: String,
    seed: u64,
    versions: BTreeMap<String, String>,
    /// None where the driver's tool was not there.
    #[serde(default)]
    conditions: Option<Conditions>,
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

/// Reads a run of the script.
///
/// # Errors
///
/// A text that is no such run; a kernel that we do not have; contestants without the same number of
/// samples, or with times that are none; a task without a kernel of ours, which can have no row.
pub fn rows(json: &str) -> Result<Measured> {
    let run: Run = serde_json::from_str(json).context("this is no file of torch_peers.py")?;
    let mut rows = Vec::new();
    for comparison in &run.results {
        let of_this = || format!("`{}` of {} {}", comparison.task, comparison.elements, comparison.dtype);
        comparison.check().with_context(of_this)?;
        for ours in comparison.contestants.iter().filter(|contestant| contestant.class == Class::Tilepipe) {
            rows.push(comparison.row(ours).with_context(of_this)?);
        }
    }
    let Run { date, gpu, commit, command, seed, versions, conditions, .. } = run;
    let process = Process { date, commit, command, seed, conditions, versions, copy: Vec::new() };
    Ok(Measured { gpu, process, rows })
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
        let mut row = Row {
            kernel: instance.kernel().to_owned(),
            task: self.text(),
            symbol: ours.symbol.clone(),
            dtype: self.dtype.clone(),
            stages: instance.generic("STAGES").map(str::to_owned),
            threads: instance.threads(),
            grid: ours.grid.with_context(|| format!("{} has no grid", ours.symbol))?,
            inputs,
            moved: self.bytes_moved,
            timing: None,
            fault: ours.fault(),
            resources: None,
            samples: ours.rounds(),
            peers: others.map(Contestant::peer).collect(),
        };
        row.derive();
        Ok(row)
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
    /// Makes the row of a contestant that is not ours, without what follows from its samples.
    fn peer(&self) -> PeerRow {
        PeerRow {
            name: self.name.clone(),
            symbol: self.symbol.clone(),
            timing: None,
            fault: self.fault(),
            wrong: None,
            ratio: None,
            interval: None,
            class: Some(self.class),
            grid: self.grid,
            samples: self.rounds(),
            wanted: None,
            met: false,
            resources: None,
        }
    }

    fn fault(&self) -> Option<String> {
        (self.wrong > 0).then(|| format!("{} elements are wrong", self.wrong))
    }

    /// The samples of the one process that there is; an empty series if the results are wrong.
    fn rounds(&self) -> Vec<Vec<f64>> {
        vec![if self.wrong == 0 { self.samples.clone() } else { Vec::new() }]
    }
}

/// Finds one of our instances by its name.
fn find(name: &str) -> Result<&'static Instance> {
    let mut all = tilepipe_kernels::registry().into_iter().flatten();
    all.find(|instance| instance.name() == name).with_context(|| format!("there is no kernel `{name}`"))
}

#[cfg(test)]
mod tests;
