//! `cargo xtask run`: builds the kernels and the runner, then runs them.

use std::io::{self, Write};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{process, project, ptx};

/// Builds everything and runs `tilepipe-run` with these arguments. Its exit status becomes ours, and so does what
/// signals do to it.
///
/// # Errors
///
/// What could not be built.
pub fn run(arguments: &[String]) -> Result<ExitCode> {
    let asks_only = arguments.iter().any(|argument| matches!(argument.as_str(), "--help" | "-h" | "--list"));
    if !asks_only {
        ptx::command()?;
    }
    process::run(&mut process::cargo(["build", "--quiet", "--release", "--package", "tilepipe-runner"]))?;
    let mut command = Command::new(project::program("release", "tilepipe-run"));
    if !arguments.iter().any(|argument| argument == "--module" || argument.starts_with("--module=")) {
        command.arg("--module").arg(project::ptx());
    }
    command.args(arguments);
    become_program(&mut command).with_context(|| format!("cannot start `{}`", process::text(&command)))
}

/// Runs the program in our place: a signal to us is one to it.
#[cfg(unix)]
fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    io::stdout().flush()?;
    Err(command.exec())
}

/// Runs the program to its end.
#[cfg(not(unix))]
fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    io::stdout().flush()?;
    let code = command.status()?.code();
    Ok(code.map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}
