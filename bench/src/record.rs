//! What a run of the program puts on record, as JSON. Files of older runs lack what was added
//! later, and are still read.

pub mod costs;
pub mod merge;
pub mod small;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::statistics::Summary;

/// One run of the program. Times are in milliseconds, rates in 10^9 bytes a second, read and
/// written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Kernels over a range of sizes or shapes.
    #[serde(default)]
    pub sweeps: Vec<Sweep>,
    /// Small sizes, in graphs.
    #[serde(default)]
    pub sizes: Vec<small::Small>,
    /// The processes that measured, in the order of the samples of each contestant: a process that
    /// did not measure one has an empty series there. A record of one process from before they were
    /// kept has none.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// What launches and compilations cost.
    #[serde(default)]
    pub costs: costs::Costs,
}

/// One process that measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Process {
    /// When it began, UTC.
    pub date: String,
    /// The commit that it measured.
    pub commit: String,
    /// The command that was typed.
    pub command: String,
    /// What the order of the launches was drawn from.
    pub seed: u64,
    /// The state of the GPU while it measured; none where the driver's tool is not there.
    pub conditions: Option<Conditions>,
    /// The versions of the programs that built what was measured, by name: `nvcc`, `ptxas`, `CCCL`,
    /// `rustc`, `LLVM`, and those of PyTorch's part.
    pub versions: BTreeMap<String, String>,
    /// Milliseconds of each of the driver's copies; none of a process that did not copy.
    #[serde(default)]
    pub copy: Vec<f64>,
}

/// The state of a GPU while a process measured, from several looks at it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// How often it was looked at.
    pub looks: usize,
    /// The multiprocessors' clock, in MHz: least and greatest.
    pub clock_mhz: [f64; 2],
    /// The memory's clock, in MHz: least and greatest.
    pub memory_mhz: [f64; 2],
    /// Power, in W: least and greatest.
    pub power_watts: [f64; 2],
    /// Temperature, in degrees Celsius: least and greatest.
    pub celsius: [f64; 2],
    /// Why clocks were held back at any of the looks, as the driver's tool names it; empty if they
    /// never were.
    pub throttled: Vec<String>,
}

/// What a contestant is, which fixes its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Ours.
    Tilepipe,
    /// The code that CUDA's programming guide or libcu++'s documentation prints.
    Guide,
    /// C++ over `cuda::pipeline` or cooperative groups in its fastest shape.
    Pipeline,
    /// C++ by hand: `cp.async`, mbarriers, bulk copies.
    Hand,
    /// C++ without asynchronous copies.
    Plain,
    /// A library that has the task: CUB, cuBLAS.
    Library,
    /// PyTorch.
    PyTorch,
    /// Our kernel's twin in unsafe Rust.
    UnsafeRust,
}

/// The time of one kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Milliseconds a launch.
    pub milliseconds: Summary,
    /// The rate at the median.
    pub gigabytes_per_second: f64,
}

/// One kernel of ours, and its peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The kernel's name.
    pub kernel: String,
    /// What all contestants compute, for people; the same text for all rows that may be compared
    /// with one another. Empty in old records.
    #[serde(default)]
    pub task: String,
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
    /// Bytes that a launch of any contestant reads and writes; 0 in old records.
    #[serde(default)]
    pub moved: u64,
    /// Its time; none if its results are wrong.
    pub timing: Option<Timing>,
    /// What is wrong with its results.
    pub fault: Option<String>,
    /// What it takes of a multiprocessor.
    #[serde(default)]
    pub resources: Option<Resources>,
    /// Milliseconds of each launch, process by process, in the order of the rounds.
    #[serde(default)]
    pub samples: Vec<Vec<f64>>,
    /// The others.
    pub peers: Vec<PeerRow>,
}

/// One peer of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerRow {
    /// What it is.
    pub name: String,
    /// Its entry.
    pub symbol: String,
    /// Its time; none if its results are wrong.
    pub timing: Option<Timing>,
    /// What is wrong with its results.
    pub fault: Option<String>,
    /// For a peer that races, and has a time all the same: the wrong elements in the run before the
    /// timed ones and in the run after them.
    pub wrong: Option<[usize; 2]>,
    /// Its time over ours, pair by pair: above 1 ours is faster.
    pub ratio: Option<Summary>,
    /// Where the ratio's median lies with 95 % confidence, lower and upper end.
    #[serde(default)]
    pub interval: Option<[f64; 2]>,
    /// What it is; none in old records, whose names tell.
    #[serde(default)]
    pub class: Option<Class>,
    /// Blocks; none where they are those of our kernel.
    #[serde(default)]
    pub grid: Option<u32>,
    /// Milliseconds of each launch, process by process, in the order of the rounds.
    #[serde(default)]
    pub samples: Vec<Vec<f64>>,
    /// The least ratio wanted.
    pub wanted: Option<f64>,
    /// Whether the median ratio is at least that; true where nothing is wanted.
    pub met: bool,
    /// What it takes of a multiprocessor.
    #[serde(default)]
    pub resources: Option<Resources>,
}

/// What a kernel takes of a multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Registers a thread.
    pub registers: u32,
    /// Bytes of shared memory a block, static and dynamic.
    pub shared_bytes: u32,
    /// Blocks that a multiprocessor holds at once.
    pub blocks_per_multiprocessor: u32,
    /// Resident warps over the most that a multiprocessor holds: 0 to 1.
    pub occupancy: f64,
    /// Bytes that a multiprocessor's blocks have in flight at most; none where the kernel's source
    /// does not tell.
    #[serde(default)]
    pub bytes_in_flight: Option<u64>,
}

/// The rates of several kernels over one quantity that varies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// What is measured.
    pub title: String,
    /// The quantity that varies.
    pub axis: String,
    /// Its unit; empty where it is a count that `axis` names.
    pub unit: String,
    /// One line for each kernel.
    pub lines: Vec<Line>,
}

/// One kernel of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The kernel.
    pub name: String,
    /// What was measured, by rising `x`.
    pub points: Vec<Point>,
}

/// One kernel of a sweep at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// The quantity's value.
    pub x: f64,
    /// Its time; none if its results are wrong or it cannot run.
    pub timing: Option<Timing>,
    /// What is wrong.
    pub fault: Option<String>,
    /// Bytes that a launch reads and writes; 0 in old records.
    #[serde(default)]
    pub moved: u64,
    /// Milliseconds of each launch, process by process, in the order of the rounds.
    #[serde(default)]
    pub samples: Vec<Vec<f64>>,
}

impl Timing {
    /// Summarises the milliseconds of launches that read and write `bytes` bytes in all; none where
    /// there is no launch, or the clock did not move.
    pub fn of(milliseconds: &[f64], bytes: u64) -> Option<Timing> {
        let milliseconds = Summary::of(milliseconds).filter(|summary| summary.median > 0.0)?;
        Some(Timing { milliseconds, gigabytes_per_second: bytes as f64 / (milliseconds.median * 1e6) })
    }
}

impl Sweep {
    /// Returns the places of all lines, rising, each once.
    pub fn places(&self) -> Vec<f64> {
        let all = self.lines.iter().flat_map(|line| line.points.iter().map(|point| point.x));
        let mut places: Vec<f64> = all.filter(|x| x.is_finite()).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// Returns the line of this name.
    pub fn line(&self, name: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.name == name)
    }
}

impl Line {
    /// Returns what was measured at a place.
    pub fn at(&self, x: f64) -> Option<&Point> {
        self.points.iter().find(|point| point.x == x)
    }
}

impl Point {
    /// Returns the median time.
    pub fn milliseconds(&self) -> Option<f64> {
        self.timing.as_ref().map(|timing| timing.milliseconds.median)
    }
}

impl Report {
    /// Reads a record.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that is no record.
    pub fn read(path: &Path) -> Result<Report> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("{} is no record of this program", path.display()))
    }

    /// Writes the record.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let json = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Returns a rate as a share of the driver's copy: 1 is as fast. None where the copy was not
    /// measured.
    pub fn share(&self, timing: Option<&Timing>) -> Option<f64> {
        let share = timing?.gigabytes_per_second / self.copy.as_ref()?.gigabytes_per_second;
        share.is_finite().then_some(share)
    }

    /// Returns one line: the GPU, the driver, the size and the repetitions.
    pub fn head(&self) -> String {
        let Report { gpu, driver, repetitions, .. } = self;
        let gibibytes = self.bytes as f64 / f64::from(1 << 30);
        format!("{gpu}, driver {driver}: {gibibytes} GiB for each input and output, medians of {repetitions}")
    }
}

impl Row {
    /// Returns its time, if its results are right.
    pub fn right_milliseconds(&self) -> Option<f64> {
        Some(self.timing.as_ref().filter(|_| self.fault.is_none())?.milliseconds.median)
    }

    /// Returns element type, stages where there is a choice, and grid, as one reads them.
    pub fn shape(&self) -> String {
        let stages = match self.stages.as_deref() {
            None => String::new(),
            Some("1") => ", 1 stage".to_owned(),
            Some(stages) => format!(", {stages} stages"),
        };
        format!("{}{stages}, {} blocks", self.dtype, self.grid)
    }
}

impl Class {
    /// Returns the class of a contestant by its name, as records without classes and sweeps name
    /// them; none where the name does not tell.
    pub fn of_name(name: &str) -> Option<Class> {
        let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| name.starts_with(beginning));
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if matches!(name, "tilepipe" | "tilepipe, Bulk" | "ours") {
            Some(Class::Tilepipe)
        } else if begins(&["tilepipe"]) {
            // One of ours that is shown beside the contestant.
            None
        } else if begins(&["unsafe Rust"]) {
            Some(Class::UnsafeRust)
        } else if begins(&["cuda::pipeline", "cooperative groups"]) {
            Some(Class::Guide)
        } else if begins(&["CUB", "cuBLAS", "cublas"]) {
            Some(Class::Library)
        } else if begins(&["PyTorch", "torch"]) {
            Some(Class::PyTorch)
        } else if has(&["plain", "no asynchronous copy"]) {
            Some(Class::Plain)
        } else if has(&["cp.async", "mbarriers", "by hand"]) {
            Some(Class::Hand)
        } else {
            None
        }
    }
}

impl PeerRow {
    /// Returns what it is: what the record says, or else what the name tells. A name that tells
    /// nothing is of C++ by hand, as most peers are.
    pub fn class(&self) -> Class {
        self.class.or_else(|| Class::of_name(&self.name)).unwrap_or(Class::Hand)
    }

    /// Returns its time, if its results are right and it does not race.
    pub fn right_milliseconds(&self) -> Option<f64> {
        let timing = self.timing.as_ref().filter(|_| self.fault.is_none() && self.wrong.is_none())?;
        Some(timing.milliseconds.median)
    }

    /// Whether there is a ratio, and it is below what is wanted.
    pub fn is_short(&self) -> bool {
        self.ratio.is_some() && !self.met
    }

    /// Returns what is to be known of its result: that it is wrong, below what is wanted, or races;
    /// empty if nothing is.
    pub fn state(&self) -> String {
        match (&self.fault, self.is_short(), self.wrong) {
            (Some(_), ..) => "WRONG".to_owned(),
            (None, true, _) => "BELOW".to_owned(),
            (None, false, Some([before, after])) => format!("RACES: {before} and {after} wrong"),
            (None, false, None) => String::new(),
        }
    }
}

#[cfg(test)]
pub mod tests;
