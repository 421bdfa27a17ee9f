//! `cargo xtask run`: builds the kernels and the runner, then runs them.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{process, project, ptx};

/// Builds everything and runs `tilepipe-run` with these arguments. Its exit status becomes ours.
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
    let status = command.status().with_context(|| format!("cannot start `{}`", process::text(&command)))?;
    Ok(match status.code() {
        Some(0) => ExitCode::SUCCESS,
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => {
            eprintln!("error: `{}` was ended: {status}", process::text(&command));
            ExitCode::FAILURE
        }
    })
}
