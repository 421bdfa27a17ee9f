//! `cargo xtask run`: builds the runner, and the kernels for the GPU if there is one, then runs
//! them.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use tilepipe_runner_cli::{Cli, DeviceChoice, KERNELS, LIST, NO_GPU, STRESS_KERNELS, Selection};
use xtask_front::build::Program;
use xtask_front::help;

use crate::{process, project, ptx};

/// The program that runs the kernels.
const RUNNER: Program = Program {
    what: "the runner",
    package: "tilepipe-run",
    name: "tilepipe-run",
    profile: "xtask",
    first_time: "about a minute",
};

/// Builds what the arguments need and runs `tilepipe-run` with them. Its exit status becomes ours,
/// and so does what signals do to it.
///
/// Wrong arguments are answered before anything is built. PTX is built only for a GPU that there
/// is, and only of the kernels that run.
///
/// # Errors
///
/// What could not be built.
pub fn run(arguments: &[OsString]) -> Result<ExitCode> {
    let cli = match Cli::read("cargo xtask run", arguments) {
        Ok(cli) => cli,
        Err(answer) => {
            let printed = answer.print();
            let status = if printed.is_ok() { u8::try_from(answer.exit_code()).unwrap_or(1) } else { 1 };
            return Ok(ExitCode::from(status));
        }
    };
    if cli.list && !RUNNER.path().exists() {
        return Ok(help::print(LIST));
    }
    let runner = build_runner(&Selection::of(&cli))?;
    let mut command = Command::new(&runner);
    if may_need_ptx(&cli) {
        match ask(&runner, arguments)? {
            Answer::Gpu(architecture) => {
                let folder = match cli.stress {
                    Some(_) => ptx::for_stress(&architecture, &STRESS_KERNELS)?,
                    None => ptx::for_run(&architecture, &kernels_of(&cli))?,
                };
                command.arg("--module").arg(folder);
            }
            Answer::None if cli.device == DeviceChoice::Auto => {}
            Answer::None => return Ok(ExitCode::from(NO_GPU)),
            Answer::Refused => return Ok(ExitCode::FAILURE),
        }
    }
    command.args(arguments);
    process::become_program(&mut command).with_context(|| format!("cannot start `{}`", process::text(&command)))
}

/// The folders that the runner is made of.
const SOURCES: [&str; 5] = ["device", "host", "kernels", "runner", "tests/kernels"];

/// Builds the runner with code for the CPU of all instances that may run there.
///
/// If nothing has changed since it was built, and it has them and more, it stays as it is.
fn build_runner(needed: &Selection) -> Result<PathBuf> {
    let kept = RUNNER.path().with_extension("instances");
    let built = fs::read_to_string(&kept).ok().and_then(|text| Selection::parse(&text));
    let of = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let has_not_changed =
        || of(&kept).is_some_and(|time| SOURCES.iter().all(|name| !is_newer(&project::root().join(name), time)));
    let selection = match built {
        Some(built) if built.covers(needed) && has_not_changed() => built.to_string(),
        _ => needed.to_string(),
    };
    let runner = process::build_with(&RUNNER, &[(Selection::VARIABLE, &selection)])?;
    fs::write(&kept, selection).with_context(|| format!("cannot write {}", kept.display()))?;
    Ok(runner)
}

/// Whether a file at or below `path` was changed after `time`, as far as that can be told.
fn is_newer(path: &Path, time: SystemTime) -> bool {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().any(|entry| is_newer(&entry.path(), time)),
        Err(_) => fs::metadata(path).and_then(|metadata| metadata.modified()).is_ok_and(|changed| changed > time),
    }
}

/// Whether PTX is needed where there is a GPU: not for the CPU, nor if the user names a folder that
/// has some.
fn may_need_ptx(cli: &Cli) -> bool {
    cli.device != DeviceChoice::Cpu && cli.module.is_none() && !cli.list && !cli.print_architecture
}

/// The kernels that run where it is no stress run; none if that is all that there are.
fn kernels_of(cli: &Cli) -> Vec<String> {
    match &cli.kernels[..] {
        [] if cli.probe => Vec::new(),
        [] => KERNELS.map(str::to_owned).to_vec(),
        kernels => kernels.to_vec(),
    }
}

/// What the runner says of the GPU.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// There is one, of this architecture.
    Gpu(String),
    /// There is none.
    None,
    /// There is one that cannot be used, or what is asked for cannot be run. The runner has printed
    /// why.
    Refused,
}

/// Asks the runner on which GPU it would run what the arguments ask for.
fn ask(runner: &Path, arguments: &[OsString]) -> Result<Answer> {
    let mut command = Command::new(runner);
    command.arg("--print-architecture").args(arguments).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("cannot start `{}`", process::text(&command)))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) if printed.starts_with("sm_") => Ok(Answer::Gpu(printed.trim().to_owned())),
        Some(status) if status == i32::from(NO_GPU) => Ok(Answer::None),
        Some(1 | 2) => Ok(Answer::Refused),
        _ => bail!("`{}` ended with {} and printed `{}`", process::text(&command), output.status, printed.trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_need(line: &str) -> bool {
        may_need_ptx(&Cli::read("cargo xtask run", line.split_whitespace()).unwrap())
    }

    #[test]
    fn only_the_kernels_that_run_are_built() {
        let of = |line: &str| kernels_of(&Cli::read("cargo xtask run", line.split_whitespace()).unwrap());
        assert_eq!(of("--kernel sum --kernel dot"), ["sum", "dot"]);
        assert_eq!(of("--kernel gemm"), ["gemm"]);
        assert_eq!(of(""), KERNELS);
        assert!(of("--probe").is_empty());
    }

    #[test]
    fn ptx_is_for_a_gpu_and_for_who_brings_none() {
        for line in ["", "--device gpu", "--device auto --kernel sum", "--stress 5", "--probe"] {
            assert!(may_need(line), "{line}");
        }
        for line in
            ["--device cpu", "--device=cpu --kernel sum", "--module here", "--module=here --device gpu", "--list"]
        {
            assert!(!may_need(line), "{line}");
        }
    }
}
