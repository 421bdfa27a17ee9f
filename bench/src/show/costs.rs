//! What launches and compilations cost, as tables for a terminal; `tilepipe-bench compile`, which
//! makes the record of the latter.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use comfy_table::Table;
use tilepipe_runner::stdout::print;

use crate::machine::{self, versions};
use crate::record::costs::{self, Compile, CompileRow, Costs};
use crate::show::table::{headed, number};
use crate::show::tasks::with_interval;
use crate::statistics::Summary;

/// Columns of what a launch costs.
pub const LAUNCHES: [&str; 5] = ["launch", "checked, ns", "cuLaunchKernel, ns", "ns more", "checked / bare (95 %)"];

/// Columns of what a compilation takes.
pub const COMPILE: [&str; 9] = [
    "kernel",
    "",
    "to PTX, s",
    "to machine code, s",
    "to machine code / ours",
    "PTX, bytes",
    "instructions, bytes",
    "cubin, bytes",
    "registers",
];

/// What the times of launches are.
pub const ABOUT_LAUNCHES: &str = "The host's time for a launch of a kernel with next to nothing to do, until its call returns: our typed \
    launch with its checks, and cuLaunchKernel with the same function and arguments of the same kind. Rounds of both are run in turns in \
    each process; times are medians of rounds, in parentheses from the 10th to the 90th percentile. A ratio above 1 is what ours takes \
    more. cudarc's guards are its waits for the events of a slice, and their records.";

/// What the times of compilers are.
pub const ABOUT_COMPILE: &str = "One kernel with one instance from source to PTX, and by way of PTX to machine code: medians, in \
    parentheses from the least to the greatest. Ours is built as a build.rs does it, with the crates that it depends on compiled before \
    and nothing of the kernel kept; nvcc compiles a file with the kernel alone. What is by hand includes no library. Our PTX is for \
    sm_80 and has the kernel's contract in it, nvcc's is for the architecture. Instructions are the sections of text, those for panics \
    included, each rounded up to 128 bytes.";

/// The file of what was measured, and where the record goes.
#[derive(Args, Debug)]
pub struct Options {
    /// What `cargo xtask bench --compile` has measured
    #[arg(value_name = "FILE.json")]
    measured: PathBuf,

    /// The folder with the files of the compilers' versions
    #[arg(long, value_name = "DIR")]
    versions: PathBuf,

    /// What is to be known of the machine
    #[arg(long, value_name = "TEXT", default_value = "")]
    note: String,

    /// Where to write the record
    #[arg(long, value_name = "FILE.json")]
    output: PathBuf,

    #[command(flatten)]
    origin: machine::Origin,
}

/// Makes a record of what was measured, and prints it.
///
/// # Errors
///
/// A file that cannot be read or written.
pub fn run(options: &Options) -> Result<()> {
    let compile = Compile {
        date: machine::now(),
        commit: options.origin.commit.clone(),
        command: options.origin.command(),
        cpu: machine::cpu(),
        cores: machine::cores(),
        note: options.note.clone(),
        versions: versions::read(&options.versions, &options.versions),
        compiled: costs::read(&options.measured)?,
    };
    costs::write(&compile, &options.output)?;
    print(compile_table(&compile).to_string())?;
    Ok(())
}

/// Returns all that is on record; empty if nothing is.
pub fn text(costs: &Costs) -> String {
    let mut text = String::new();
    if !costs.launches.is_empty() {
        text += &format!("\n\nlaunches\n{}", launch_table(costs));
    }
    if let Some(compile) = &costs.compile {
        text += &format!("\n\ncompilation, on {}\n{}", place(compile), compile_table(compile));
    }
    text
}

/// Returns where compilers were measured, and which.
pub fn place(compile: &Compile) -> String {
    let versions: Vec<String> = compile.versions.iter().map(|(name, version)| format!("{name} {version}")).collect();
    let Compile { cpu, cores, note, commit, .. } = compile;
    let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
    format!("{cpu}, {cores} cores{note}; commit {commit}; {}", versions.join(", "))
}

fn launch_table(costs: &Costs) -> Table {
    let mut table = headed(LAUNCHES);
    for [kernel, figures @ ..] in launch_texts(costs) {
        table.add_row([kernel.into()].into_iter().chain(figures.map(number)));
    }
    table
}

/// Returns the rows of launches in the order of the columns.
pub fn launch_texts(costs: &Costs) -> Vec<[String; 5]> {
    let of_summary = |one: &Summary| format!("{:.0} ({:.0} to {:.0})", one.median, one.low, one.high);
    let costs = costs.launch_costs().into_iter().map(|cost| {
        let ratio = with_interval(cost.ratio.median, cost.interval);
        [cost.kernel, of_summary(&cost.checked), of_summary(&cost.bare), of_summary(&cost.more), ratio]
    });
    costs.collect()
}

/// Returns compilations as a table.
fn compile_table(compile: &Compile) -> Table {
    let mut table = headed(COMPILE);
    for [task, name, figures @ ..] in compile_texts(compile) {
        table.add_row([task.into(), name.into()].into_iter().chain(figures.map(number)));
    }
    table
}

/// Returns the rows of compilations in the order of the columns; a task's name stands in its first
/// row.
pub fn compile_texts(compile: &Compile) -> Vec<[String; 9]> {
    let mut texts = Vec::new();
    for task in &compile.compiled.tasks {
        let ours = task.contestants.first().and_then(|ours| Summary::of(&ours.code_seconds));
        for (at, row) in task.contestants.iter().enumerate() {
            let name = if at == 0 { task.name.clone() } else { String::new() };
            texts.push(compile_text(name, row, ours.filter(|_| at > 0)));
        }
    }
    texts
}

fn compile_text(task: String, row: &CompileRow, ours: Option<Summary>) -> [String; 9] {
    let seconds = |of: &[f64]| {
        Summary::of(of).map_or_else(String::new, |one| format!("{:.2} ({:.2} to {:.2})", one.median, one.min, one.max))
    };
    let ratio = Summary::of(&row.code_seconds).zip(ours).map(|(theirs, ours)| theirs.median / ours.median);
    [
        task,
        row.name.clone(),
        seconds(&row.ptx_seconds),
        seconds(&row.code_seconds),
        ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        row.ptx_bytes.to_string(),
        row.code_bytes.to_string(),
        row.cubin_bytes.to_string(),
        row.registers.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::costs::tests::example;

    #[test]
    fn launches_and_compilations_have_medians_and_spreads() {
        let text = text(&example());
        assert!(text.contains("3100") && text.contains("1.50 (1.50 to"), "{text}");
        assert!(text.contains("2.00 (1.00 to 3.00)") && text.contains("a sum & more"), "{text}");
        assert!(text.contains("a CPU, 2 cores (shared); commit 0123abc; nvcc 13.0.88"), "{text}");
        assert_eq!(super::text(&Costs::default()), "");
    }

    #[test]
    fn a_compilation_is_compared_with_ours_of_its_task() {
        let [ours, theirs] = &compile_texts(example().compile.as_ref().unwrap())[..] else { panic!("two rows") };
        assert_eq!((ours[4].as_str(), theirs[4].as_str()), ("", "1.50"));
        assert_eq!((ours[0].as_str(), theirs[0].as_str()), ("a sum & more", ""));
        assert_eq!(theirs[5..], ["11222", "1664", "9000", "26"]);
    }

    #[test]
    fn what_was_measured_becomes_a_record_of_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let compiled = example().compile.unwrap().compiled;
        costs::write(&compiled, &path("measured.json")).unwrap();
        std::fs::write(path("versions.txt"), "nvcc 13.0.88\n").unwrap();
        let origin = machine::Origin::of("cargo xtask bench --compile", "0123abc");
        run(&Options {
            measured: path("measured.json"),
            versions: folder.path().to_owned(),
            note: "shared".to_owned(),
            output: path("compile.json"),
            origin,
        })
        .unwrap();
        let compile: Compile = costs::read(&path("compile.json")).unwrap();
        assert_eq!((compile.compiled, compile.commit.as_str()), (compiled, "0123abc"));
        assert_eq!((compile.versions["nvcc"].as_str(), compile.note.as_str()), ("13.0.88", "shared"));
        assert!(compile.cores > 0 && !compile.cpu.is_empty());
    }
}
