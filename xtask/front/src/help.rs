//! The help texts, as clap prints them for `xtask-tools`.
//!
//! A test of `xtask-tools` compares them with what clap prints, and writes them where
//! `TILEPIPE_HELP=write`. A new subcommand gets a line in [`SUBCOMMANDS`] and an empty file first.

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// What `cargo xtask --help` prints.
pub const ALL: &str = include_str!("../help/xtask.txt");

/// Each subcommand with what its `--help` prints.
pub const SUBCOMMANDS: [(&str, &str); 9] = [
    ("run", include_str!("../help/run.txt")),
    ("test", include_str!("../help/test.txt")),
    ("bench", include_str!("../help/bench.txt")),
    ("bundle", include_str!("../help/bundle.txt")),
    ("ptx", include_str!("../help/ptx.txt")),
    ("setup", include_str!("../help/setup.txt")),
    ("lint", include_str!("../help/lint.txt")),
    ("tidy", include_str!("../help/tidy.txt")),
    ("clean", include_str!("../help/clean.txt")),
];

/// Prints a text to standard output and returns the exit status. A reader that has gone away, as in
/// `| head`, needs no words.
pub fn print(text: &str) -> ExitCode {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: cannot write to standard output: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns what a subcommand's `--help` prints; `None` if there is no such subcommand.
pub fn of(subcommand: &str) -> Option<&'static str> {
    SUBCOMMANDS.iter().find(|(name, _)| *name == subcommand).map(|(_, text)| *text)
}
