//! `tilepipe-bench`: compares tilepipe's kernels with CUDA C++ peers that do the same work, and
//! shows what was measured.
//!
//! All are launched by the same code, in turns, in one run on one GPU; a kernel whose results are
//! wrong gets no time. Peers that are known to race are timed all the same, and their wrong
//! elements counted. `measure` and `merge` exit with 1 if a result is wrong or a ratio is below
//! what is wanted, and `measure` with 3 if there is no GPU.

mod balance;
mod ceilings;
mod copy;
mod cpu;
mod launches;
mod machine;
mod measure;
mod plan;
mod record;
mod resources;
mod session;
mod show;
mod small;
mod statistics;
mod torch;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};
use tilepipe_host::Error;
use tilepipe_runner::stdout::{self, PrintError, print};

use record::{Report, merge};
use show::{compare, costs, engines, page, readme, table};

/// The exit status where there is no GPU, so that a script can tell this from a failure.
const NO_GPU: u8 = 3;

/// Compares tilepipe's kernels with CUDA C++ on one GPU, and shows what was measured.
#[derive(Parser, Debug)]
#[command(name = "tilepipe-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Time every kernel beside its peers on the GPU
    Measure(session::Options),
    /// Make one record of several processes that measured the same
    Merge(merge::Options),
    /// Say whether there is a GPU: exits with 3 if there is none
    Probe,
    /// Print a record, and write it as a page with its charts
    Report {
        /// A record that `measure` has written
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
        /// The folder for index.html and the SVG files
        #[arg(long, value_name = "DIR")]
        output: PathBuf,
    },
    /// Print what a record of `measure --engines` says: the rates of engines, and what fences cost
    Engines {
        /// The record
        #[arg(value_name = "FILE.json")]
        file: PathBuf,
    },
    /// Say what changed from one record to another by more than noise
    Compare {
        /// The first record
        #[arg(value_name = "A.json")]
        before: PathBuf,
        /// The second record
        #[arg(value_name = "B.json")]
        after: PathBuf,
    },
    /// Time the CPU executor beside plain loops
    Cpu(cpu::Options),
    /// Time what a launch costs the program that makes it
    Launches(launches::Options),
    /// Make a record of what `cargo xtask bench --compile` has measured, and print it
    Compile(costs::Options),
    /// Write a record's table into a README and its chart beside it
    Readme(readme::Options),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(answer) => return stdout::answer(&answer),
    };
    match run(cli.command) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(failures) => {
            for failure in failures {
                eprintln!("error: {failure}");
            }
            ExitCode::FAILURE
        }
        Err(error) if error.downcast_ref().is_some_and(PrintError::is_reader_gone) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            match error.downcast_ref() {
                Some(Error::NoDriver | Error::NoSuchGpu { count: 0, .. }) => ExitCode::from(NO_GPU),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Returns what is wrong or too slow.
fn run(command: Command) -> Result<Vec<String>> {
    match command {
        Command::Measure(options) => return session::run(&options),
        Command::Merge(options) => {
            let report = merge::run(&options)?;
            print(table::report(&report))?;
            return Ok(report.failures());
        }
        Command::Probe => print(tilepipe_host::Device::gpu(0)?.name())?,
        Command::Report { file, output } => {
            let report = Report::read(&file)?;
            print(table::report(&report))?;
            page::write(&report, &output)?;
            print(format_args!("the page is {}", output.join("index.html").display()))?;
        }
        Command::Engines { file } => print(engines::text(&Report::read(&file)?)?)?,
        Command::Compare { before, after } => {
            print(compare::compare(&Report::read(&before)?, &Report::read(&after)?).text())?;
        }
        Command::Cpu(options) => return cpu::run(&options),
        Command::Launches(options) => return launches::run(&options),
        Command::Compile(options) => costs::run(&options)?,
        Command::Readme(options) => readme::run(&options)?,
    }
    Ok(Vec::new())
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
    fn measure_takes_what_the_bundle_gives_it() {
        let words =
            "tilepipe-bench measure --module ptx --peers built --commit 1 --command x --output a.json --repetitions 5";
        let cli = Cli::try_parse_from(words.split(' ')).unwrap();
        assert!(matches!(cli.command, Command::Measure(_)));
    }

    #[test]
    fn merge_takes_what_the_bundle_gives_it() {
        let merges = |words: &str| {
            let cli = Cli::try_parse_from(["tilepipe-bench", "merge"].into_iter().chain(words.split(' ')));
            cli.is_ok_and(|cli| matches!(cli.command, Command::Merge(_)))
        };
        assert!(
            merges("a-1.json a-2.json --output a.json --torch torch.json b.json") && merges("a.json --output b.json")
        );
        assert!(!merges("--output a.json") && !merges("a.json"));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_an_error_and_a_change_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut report = record::tests::example();
        std::fs::write(path("a.json"), serde_json::to_string(&report).unwrap()).unwrap();
        report.comparisons[0].timing = record::Timing::of(&[9.0], 1 << 30);
        std::fs::write(path("b.json"), serde_json::to_string(&report).unwrap()).unwrap();
        let compare = |before, after| run(Command::Compare { before: path(before), after: path(after) });
        assert_eq!(compare("a.json", "b.json").unwrap(), [""; 0]);
        assert!(compare("a.json", "c.json").is_err());
    }
}
