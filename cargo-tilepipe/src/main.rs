//! `cargo tilepipe`: begins a crate with GPU kernels, installs what builds them, and says what they
//! need of a GPU.

mod doctor;
mod new;
mod report;
mod setup;
mod workspace;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Begins crates with GPU kernels, installs what builds them, and says what they need
#[derive(Parser)]
#[command(name = "cargo-tilepipe", bin_name = "cargo tilepipe", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a new workspace: a program, a crate with one kernel, its build script and its test
    New(new::Options),
    /// Install the compiler for device code for all of the user's crates, unless there is one
    Setup,
    /// Build the workspace's kernels, and print what each needs of a GPU and how many fit
    Report(report::Options),
    /// Say what is there, what is missing, and where to get it
    ///
    /// The exit status is 1 if something is missing that a build of kernels needs.
    Doctor,
}

fn main() -> ExitCode {
    let result = match Cli::parse_from(own(std::env::args_os())).command {
        Command::New(options) => new::command(&options),
        Command::Setup => setup::command(),
        Command::Report(options) => report::command(&options),
        Command::Doctor => doctor::command(),
    };
    finish(result)
}

/// The arguments without the name of the subcommand, which cargo puts first.
fn own(arguments: impl Iterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    arguments.enumerate().filter(|(at, argument)| !(*at == 1 && argument == "tilepipe")).map(|(_, argument)| argument)
}

fn finish(result: Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn cargo_and_a_shell_start_it_alike() {
        for arguments in
            [&["cargo-tilepipe", "tilepipe", "new", "tilepipe"][..], &["cargo-tilepipe", "new", "tilepipe"]]
        {
            let cli = Cli::parse_from(own(arguments.iter().map(OsString::from)));
            assert!(matches!(cli.command, Command::New(_)), "{arguments:?}");
        }
    }
}
