//! What a record says of kernels beside their speed: what a launch costs the program that makes it,
//! and what compiling a kernel takes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::record::Class;
use crate::statistics::{Summary, interval};

/// Both; either may be missing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// The processes that timed launches.
    #[serde(default)]
    pub launches: Vec<Launches>,
    /// The compilers, on a machine of their own.
    #[serde(default)]
    pub compile: Option<Compile>,
}

/// One process that timed launches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launches {
    /// When it began, UTC.
    pub date: String,
    /// The commit that was measured.
    pub commit: String,
    /// The command that was typed.
    pub command: String,
    /// The GPU's name.
    pub gpu: String,
    /// Launches in a round.
    pub launches: u32,
    /// One entry for each kernel.
    pub kernels: Vec<Launch>,
}

/// The rounds of one kernel: nanoseconds of the host for a launch, round by round. A round of one
/// is followed by a round of the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// What the kernel takes.
    pub kernel: String,
    /// Our typed launch, with its checks.
    pub checked: Vec<f64>,
    /// `cuLaunchKernel` with the same function and the same arguments.
    pub bare: Vec<f64>,
}

/// What compiling single kernels took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compile {
    /// When it was recorded, UTC.
    pub date: String,
    /// The commit that was measured.
    pub commit: String,
    /// The command that was typed.
    pub command: String,
    /// The CPU's model.
    pub cpu: String,
    /// Its threads.
    pub cores: usize,
    /// What else is to be known of the machine; empty if nothing is.
    #[serde(default)]
    pub note: String,
    /// The compilers' versions, by name.
    pub versions: BTreeMap<String, String>,
    /// What was measured.
    #[serde(flatten)]
    pub compiled: Compiled,
}

/// What `cargo xtask bench --compile` measures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    /// What machine code is for.
    pub architecture: String,
    /// One entry for each kernel.
    pub tasks: Vec<CompileTask>,
}

/// One kernel in several languages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileTask {
    /// What it does.
    pub name: String,
    /// Ours first.
    pub contestants: Vec<CompileRow>,
}

/// One kernel's compilation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompileRow {
    /// What it is.
    pub name: String,
    /// What it is, which fixes its colour.
    pub class: Class,
    /// Seconds from source to PTX, round by round.
    pub ptx_seconds: Vec<f64>,
    /// Seconds from source to machine code by way of PTX, round by round.
    pub code_seconds: Vec<f64>,
    /// Bytes of the PTX, as text.
    pub ptx_bytes: u64,
    /// Bytes of instructions in the machine code.
    pub code_bytes: u64,
    /// Bytes of the file of machine code.
    pub cubin_bytes: u64,
    /// Registers a thread.
    pub registers: u32,
}

/// What a kernel's launches come to over all processes.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchCost {
    /// What the kernel takes.
    pub kernel: String,
    /// Nanoseconds of our launch.
    pub checked: Summary,
    /// Nanoseconds of the bare one.
    pub bare: Summary,
    /// Nanoseconds that ours takes more, round by round.
    pub more: Summary,
    /// Ours over the bare one, round by round.
    pub ratio: Summary,
    /// Where the ratio's median lies with 95 % confidence.
    pub interval: Option<[f64; 2]>,
}

impl Costs {
    /// Whether nothing is on record.
    pub fn is_empty(&self) -> bool {
        self.launches.is_empty() && self.compile.is_none()
    }

    /// Returns what launches come to, kernel by kernel in the order of the first process.
    pub fn launch_costs(&self) -> Vec<LaunchCost> {
        let kernels = self.launches.first().map(|first| first.kernels.as_slice()).unwrap_or_default();
        kernels.iter().filter_map(|one| self.launch_cost(&one.kernel)).collect()
    }

    fn launch_cost(&self, kernel: &str) -> Option<LaunchCost> {
        let all = self.launches.iter().flat_map(|process| &process.kernels).filter(|one| one.kernel == kernel);
        let (checked, bare): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            all.map(|one| (one.checked.clone(), one.bare.clone())).unzip();
        let (flat_checked, flat_bare) = (checked.concat(), bare.concat());
        let more: Vec<f64> = flat_checked.iter().zip(&flat_bare).map(|(checked, bare)| checked - bare).collect();
        Some(LaunchCost {
            kernel: kernel.to_owned(),
            checked: Summary::of(&flat_checked)?,
            bare: Summary::of(&flat_bare)?,
            more: Summary::of(&more)?,
            ratio: Summary::of_ratios(&flat_checked, &flat_bare)?,
            interval: interval::of_pairs(&checked, &bare),
        })
    }
}

/// Reads a file that this program or `cargo xtask` has written.
///
/// # Errors
///
/// A file that cannot be read, or that is another one.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no file of that kind", path.display()))
}

/// Writes one.
///
/// # Errors
///
/// A file that cannot be written.
pub fn write(what: &impl Serialize, path: &Path) -> Result<()> {
    let json = serde_json::to_string_pretty(what)? + "\n";
    fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Two processes, and a task in two languages.
    pub fn example() -> Costs {
        let process = |date: &str, checked: [f64; 2], bare: [f64; 2]| Launches {
            date: date.to_owned(),
            commit: "0123abc".to_owned(),
            command: "launches --bare".to_owned(),
            gpu: "A \"GPU\" & <more>".to_owned(),
            launches: 10_000,
            kernels: vec![Launch { kernel: "one input".to_owned(), checked: checked.to_vec(), bare: bare.to_vec() }],
        };
        let row = |name: &str, class, seconds: f64| CompileRow {
            name: name.to_owned(),
            class,
            ptx_seconds: vec![seconds, 3.0 * seconds, 2.0 * seconds],
            code_seconds: vec![4.0 * seconds],
            ptx_bytes: 11_222,
            code_bytes: 1664,
            cubin_bytes: 9000,
            registers: 26,
        };
        let contestants = vec![row("tilepipe", Class::Tilepipe, 1.0), row("cuda::pipeline", Class::Pipeline, 1.5)];
        Costs {
            launches: vec![
                process("1", [3000.0, 3300.0], [2000.0, 2200.0]),
                process("2", [3200.0, 9.0], [2000.0, 6.0]),
            ],
            compile: Some(Compile {
                date: "today".to_owned(),
                commit: "0123abc".to_owned(),
                command: "cargo xtask bench --compile".to_owned(),
                cpu: "a CPU".to_owned(),
                cores: 2,
                note: "shared".to_owned(),
                versions: BTreeMap::from([("nvcc".to_owned(), "13.0.88".to_owned())]),
                compiled: Compiled {
                    architecture: "sm_90".to_owned(),
                    tasks: vec![CompileTask { name: "a sum & more".to_owned(), contestants }],
                },
            }),
        }
    }

    #[test]
    fn launches_are_compared_round_by_round_over_all_processes() {
        let costs = example().launch_costs();
        assert_eq!(costs.len(), 1);
        let cost = &costs[0];
        assert_eq!((cost.checked.median, cost.bare.median), (3100.0, 2000.0));
        assert_eq!((cost.more.min, cost.more.max, cost.ratio.median), (3.0, 1200.0, 1.5));
        assert!(cost.interval.is_some_and(|[low, high]| low >= 1.5 && high <= 1.6));
        assert!(Costs::default().is_empty() && Costs::default().launch_costs().is_empty() && !example().is_empty());
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&example(), &path).unwrap();
        assert_eq!(read::<Costs>(&path).unwrap(), example());
        assert!(read::<Launches>(&path).is_err() && read::<Costs>(&folder.path().join("b.json")).is_err());
    }
}
