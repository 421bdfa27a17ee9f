//! `cargo xtask lint`: format, clippy and documentation, without a single warning.

use std::process::Command;

use anyhow::Result;

use crate::process;

/// Runs all three.
///
/// # Errors
///
/// The first that fails.
pub fn command() -> Result<()> {
    println!("checking the format");
    process::run(&mut format())?;
    println!("running clippy on every package and test");
    process::run(&mut clippy())?;
    println!("building the documentation");
    process::run(&mut documentation())
}

/// Checks the format.
pub fn format() -> Command {
    process::cargo(["fmt", "--all", "--check"])
}

/// Runs clippy on every target; a warning is an error.
pub fn clippy() -> Command {
    process::cargo(["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

/// Builds the documentation; a warning is an error.
pub fn documentation() -> Command {
    let mut command = process::cargo(["doc", "--quiet", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}
