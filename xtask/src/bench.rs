//! `cargo xtask bench`: measures the kernels beside CUDA C++, and shows, compares and records what
//! was measured.

mod compile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use xtask_front::build::Program;

use crate::{bundle, process, project, ptx, setup};

/// The exit status of `tilepipe-bench probe` where there is no GPU, and of `build.sh` where there
/// is no nvcc.
const MISSING: i32 = 3;

/// The program that measures.
const BENCH: Program = Program {
    what: "the program that measures",
    package: "tilepipe-bench",
    name: "tilepipe-bench",
    profile: "release",
    first_time: "some minutes",
};

/// What to do; without an option, measure on the GPU.
#[derive(Args, Debug)]
pub struct Options {
    /// Print a record and write it as a page with charts to target/bench/
    #[arg(long, value_name = "FILE.json", group = "mode")]
    report: Option<PathBuf>,

    /// Say what changed between two records by more than noise
    #[arg(long, value_names = ["A.json", "B.json"], num_args = 2, group = "mode")]
    compare: Option<Vec<PathBuf>>,

    /// Time the CPU executor beside plain loops
    #[arg(long, group = "mode")]
    cpu: bool,

    /// Time what it takes to compile single kernels, ours and CUDA C++ with nvcc (minutes)
    #[arg(long, group = "mode")]
    compile: bool,

    /// With --compile: what is to be known of the machine
    #[arg(long, requires = "compile", value_name = "TEXT")]
    note: Option<String>,

    /// Write a record's table into README.md and its chart to docs/bench.svg
    #[arg(long, value_name = "FILE.json", group = "mode")]
    readme: Option<PathBuf>,

    /// With --cpu: also time the builds of the kernels, from nothing (minutes) and with nothing
    /// changed
    #[arg(long, requires = "cpu")]
    builds: bool,

    /// Further arguments of `tilepipe-bench measure`
    #[arg(last = true, value_name = "ARGUMENT", conflicts_with = "mode")]
    arguments: Vec<String>,
}

/// Builds `tilepipe-bench` and does what is asked.
///
/// # Errors
///
/// What could not be built; a GPU, nvcc or a file that is missing.
pub fn run(options: &Options) -> Result<ExitCode> {
    process::build(&BENCH)?;
    if let Some(file) = &options.report {
        report(file)
    } else if let Some(files) = &options.compare {
        process::run(program().arg("compare").args(files))?;
        Ok(ExitCode::SUCCESS)
    } else if let Some(file) = &options.readme {
        process::run(program().arg("readme").arg(file).arg("--root").arg(project::root()))?;
        Ok(ExitCode::SUCCESS)
    } else if options.cpu {
        cpu(options.builds)
    } else if options.compile {
        compile(options.note.as_deref())
    } else {
        gpu(&options.arguments)
    }
}

fn program() -> Command {
    Command::new(BENCH.path())
}

fn folder() -> Result<PathBuf> {
    let folder = project::target().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder)
}

fn report(file: &Path) -> Result<ExitCode> {
    process::run(program().arg("report").arg(file).arg("--output").arg(folder()?))?;
    Ok(ExitCode::SUCCESS)
}

fn cpu(with_builds: bool) -> Result<ExitCode> {
    let mut command = program();
    let record = folder()?.join("cpu.json");
    command.arg("cpu").arg("--output").arg(&record).args(["--commit", &bundle::commit()]);
    command
        .args(["--command", if with_builds { "cargo xtask bench --cpu --builds" } else { "cargo xtask bench --cpu" }]);
    if with_builds {
        for (name, time) in ptx::time_builds(&folder()?.join("builds"))? {
            command.arg("--build").arg(format!("{name}={}", time.as_secs_f64()));
        }
    }
    process::run(&mut command)?;
    println!("the record is {}", record.display());
    Ok(ExitCode::SUCCESS)
}

/// Times compilers; the record is `target/bench/compile.json`.
fn compile(note: Option<&str>) -> Result<ExitCode> {
    let folder = folder()?;
    let (measured, record) = (folder.join("compile-measured.json"), folder.join("compile.json"));
    let versions = folder.join("compile-versions");
    compile::measure(&folder.join("compile"), &versions, &measured)?;
    let mut command = program();
    command.arg("compile").arg(&measured).arg("--versions").arg(&versions).arg("--output").arg(&record);
    command.args(["--note", note.unwrap_or_default()]);
    process::run(command.args(["--commit", &bundle::commit(), "--command", "cargo xtask bench --compile"]))?;
    println!("the record is {}", record.display());
    Ok(ExitCode::SUCCESS)
}

/// Measures; what the GPU machine lacks is found before anything is built for minutes.
fn gpu(arguments: &[String]) -> Result<ExitCode> {
    let probe = program().arg("probe").output().context("cannot start tilepipe-bench")?;
    let reason = String::from_utf8_lossy(&probe.stderr);
    check_gpu(probe.status, reason.trim().trim_start_matches("error: "))?;

    let folder = folder()?;
    let (peers, record) = (folder.join("peers"), folder.join("bench.json"));
    println!("building the CUDA C++ kernels with nvcc");
    let mut build = Command::new(project::root().join("bench/peers/build.sh"));
    let status = build.arg(&peers).status().with_context(|| format!("cannot start `{}`", process::text(&build)))?;
    ensure!(
        status.success(),
        "the CUDA C++ kernels cannot be built, {}; {WITHOUT}",
        if status.code() == Some(MISSING) { "as nvcc is missing" } else { "see above" }
    );
    ptx::command()?;
    let versions = project::ptx().join(bundle::TOOLCHAIN);
    fs::write(&versions, setup::ensure()?.versions())
        .with_context(|| format!("cannot write {}", versions.display()))?;

    if record.exists() {
        fs::remove_file(&record).with_context(|| format!("cannot remove {}", record.display()))?;
    }
    let mut measure = program();
    measure.arg("measure").arg("--module").arg(project::ptx()).arg("--peers").arg(&peers).arg("--output").arg(&record);
    measure.arg("--twins").arg(project::test_ptx().join("twins"));
    measure.arg("--ceilings").arg(peers.join("libceilings.so"));
    measure.args(["--commit", &bundle::commit(), "--command", &typed(arguments)]).args(arguments);
    let status = measure.status().with_context(|| format!("cannot start `{}`", process::text(&measure)))?;
    ensure!(record.exists(), "`{}` failed: {status}", process::text(&measure));
    report(&record)?;
    println!("the record is {}", record.display());
    // What is wrong or too slow was said, and is in the page too.
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What can be done without a GPU or nvcc.
const WITHOUT: &str =
    "without a GPU and nvcc there are `cargo xtask bench --cpu`, `--report FILE.json` and `--compare A.json B.json`";

fn check_gpu(status: ExitStatus, reason: &str) -> Result<()> {
    match status.code() {
        Some(0) => Ok(()),
        Some(MISSING) => bail!("there is no GPU to measure on ({reason}); {WITHOUT}"),
        _ => bail!("there is a GPU, but it cannot be used: {reason}"),
    }
}

/// The command as it was typed.
fn typed(arguments: &[String]) -> String {
    let words = ["cargo", "xtask", "bench"].into_iter().chain((!arguments.is_empty()).then_some("--"));
    words.chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn parse(words: &str) -> Result<Options, clap::Error> {
        Ok(Cli::try_parse_from(["bench"].into_iter().chain(words.split_whitespace()))?.options)
    }

    #[test]
    fn each_way_to_call_it_is_taken() {
        let options = parse("").unwrap();
        assert!(options.report.is_none() && options.compare.is_none() && options.readme.is_none() && !options.cpu);
        assert_eq!(parse("--report a.json").unwrap().report.unwrap(), Path::new("a.json"));
        assert_eq!(
            parse("--compare a.json b.json").unwrap().compare.unwrap(),
            [Path::new("a.json"), Path::new("b.json")]
        );
        assert_eq!(parse("--readme a.json").unwrap().readme.unwrap(), Path::new("a.json"));
        assert!(parse("--cpu --builds").unwrap().builds && parse("--compile").unwrap().compile);
        assert_eq!(parse("-- --kernel x").unwrap().arguments, ["--kernel", "x"]);
    }

    #[test]
    fn what_makes_no_sense_together_is_refused() {
        for words in [
            "--cpu --report a.json",
            "--report a.json --compare a.json b.json",
            "--readme a.json --cpu",
            "--compile --cpu",
            "--note x",
            "--compare a.json",
            "--compare a.json b.json c.json",
            "--builds",
            "--cpu -- --kernel x",
            "--kernel x",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn without_a_gpu_the_error_names_what_there_is() {
        use std::os::unix::process::ExitStatusExt;
        let check = |code: i32| check_gpu(ExitStatus::from_raw(code << 8), "no driver");
        let error = check(MISSING).unwrap_err().to_string();
        for word in ["no GPU", "no driver", "--cpu", "--report", "--compare"] {
            assert!(error.contains(word), "{word} in {error}");
        }
        assert!(check(1).unwrap_err().to_string().contains("cannot be used: no driver"));
        assert!(check(0).is_ok());
    }

    #[test]
    fn the_command_on_record_is_what_was_typed() {
        assert_eq!(typed(&[]), "cargo xtask bench");
        assert_eq!(typed(&["--kernel".to_owned(), "x".to_owned()]), "cargo xtask bench -- --kernel x");
    }
}
