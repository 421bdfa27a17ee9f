//! Starting other programs, with errors that name the command.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Error, Result, ensure};
use xtask_front::build::Program;

use crate::project;

pub use xtask_front::build::{become_program, cargo};

/// Builds a program of the workspace, says so before unless there is nothing to do, and returns
/// where it lies.
///
/// # Errors
///
/// As for [`Program::build`].
pub fn build(program: &Program) -> Result<PathBuf> {
    program.build().map_err(Error::msg)
}

/// As [`build`], with these environment variables for the compiler.
///
/// # Errors
///
/// As for [`build`].
pub fn build_with(program: &Program, variables: &[(&str, &str)]) -> Result<PathBuf> {
    program.build_with(variables).map_err(Error::msg)
}

/// The cargo of rustup's toolchain `nightly`, in the workspace's root.
pub fn nightly_cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]).args(arguments).current_dir(project::root());
    // What the toolchain that runs us has set for it.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || TOOLCHAIN.contains(&&*text) {
            command.env_remove(name);
        }
    }
    command
}

/// What a toolchain's own programs are called by.
const TOOLCHAIN: [&str; 5] = ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN", "LD_LIBRARY_PATH"];

/// Runs a command to its end; what it prints is seen.
///
/// # Errors
///
/// The command with its exit status, if that is not success.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start `{}`", text(command)))?;
    check(command, status)
}

/// Runs a command to its end and returns what it wrote to standard output; standard error is seen.
///
/// # Errors
///
/// As for [`run`].
pub fn capture(command: &mut Command) -> Result<String> {
    let mut output = String::new();
    let status = stream(command, |line| {
        output += line;
        output += "\n";
    })?;
    check(command, status)?;
    Ok(output)
}

/// Runs a command to its end and hands each line of its standard output to `line`; standard error is seen.
///
/// # Errors
///
/// If the command cannot be started or its output not be read. A failure of its own is in the status.
pub fn stream(command: &mut Command, mut line: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot start `{}`", text(command)))?;
    if let Some(stdout) = child.stdout.take() {
        let mut reader = BufReader::new(stdout);
        let mut bytes = Vec::new();
        while reader.read_until(b'\n', &mut bytes)? > 0 {
            line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
            bytes.clear();
        }
    }
    Ok(child.wait()?)
}

/// The command as one would type it.
pub fn text(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    ensure!(status.success(), "`{}` failed: {status}", text(command));
    Ok(())
}
