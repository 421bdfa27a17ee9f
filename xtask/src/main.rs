//! The subcommands of `cargo xtask`, which build, run and test all of tilepipe: one file for each.
//!
//! The package `xtask` in `front/` answers `--help`, and builds and starts this program.

mod bench;
mod bundle;
mod clean;
#[cfg(test)]
mod help;
mod lint;
mod lock;
mod process;
mod project;
mod ptx;
mod pytorch;
mod run;
mod setup;
mod size;
mod test;
mod tidy;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Builds, runs and tests all of tilepipe.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the kernels on the GPU, or on the CPU where there is none, each checked against a
    /// reference
    #[command(disable_help_flag = true)]
    Run {
        /// Arguments of `tilepipe-run`; `cargo xtask run --help` lists them
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Run every test that this machine can, and say which it cannot
    Test(test::Options),
    /// Measure the kernels beside CUDA C++ on the GPU, or show, compare and record what was
    /// measured
    Bench(bench::Options),
    /// Make target/bundle/: what a GPU machine without Rust needs to run and test everything
    ///
    /// The folder travels: it has at most 32 MiB. On the GPU machine ./run.sh in it unpacks the
    /// programs and the kernels once, and runs them; ./run.sh help lists its commands. With --suite
    /// only what one suite needs is built and packed, to target/bundle-NAME/.
    Bundle(bundle::Options),
    /// Build the kernels to target/ptx/ (and those of tests to target/test-ptx/), and
    /// warn of those that use local memory
    Ptx(ptx::Options),
    /// Fetch the compiler for device code into target/ unless there is one
    Setup,
    /// Check the format, clippy and the documentation
    Lint,
    /// Check what rustfmt and clippy do not: the width of comments, imports that climb, the map in
    /// ARCHITECTURE.md
    Tidy,
    /// Remove what `cargo xtask` has built of the kernels, and the bundles, and say what that frees
    ///
    /// Programs that cargo has built stay, and so do measured records in target/bench/ and the
    /// compiler for device code: `cargo clean` removes all of target/. A folder that is a symbolic
    /// link to another place stays as it is. While a build of kernels is under way nothing is
    /// removed.
    Clean(clean::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run { arguments } => run::run(&arguments),
        Command::Test(options) => test::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Bundle(options) => bundle::run(&options).map(|()| ExitCode::SUCCESS),
        Command::Ptx(options) => ptx::run(&options),
        Command::Setup => setup::command().map(|()| ExitCode::SUCCESS),
        Command::Lint => lint::command().map(|()| ExitCode::SUCCESS),
        Command::Tidy => tidy::command(),
        Command::Clean(options) => clean::command(&options).map(|()| ExitCode::SUCCESS),
    };
    finish(result)
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
    fn run_passes_everything_on() {
        let cli = Cli::parse_from(["xtask", "run", "--kernel", "with_staging", "--help"]);
        assert!(
            matches!(cli.command, Command::Run { arguments } if arguments == ["--kernel", "with_staging", "--help"])
        );
        let cli = Cli::parse_from(["xtask", "run", "--device", "cpu"]);
        assert!(matches!(cli.command, Command::Run { arguments } if arguments.len() == 2));
    }
}
