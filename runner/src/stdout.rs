//! Standard output, where a line that cannot be printed is an error.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a line was not printed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
pub struct PrintError(#[from] io::Error);

impl PrintError {
    /// Whether the reader of a pipe has gone away, as in `| head`. That is a failure that needs no
    /// words.
    pub fn is_reader_gone(&self) -> bool {
        self.0.kind() == ErrorKind::BrokenPipe
    }
}

/// Prints a line.
///
/// # Errors
///
/// If standard output is full, or closed since the program was started.
pub fn print(line: impl Display) -> Result<(), PrintError> {
    check()?;
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

/// A number of things as text, such as `1 tile` or `2 tiles`. The noun is one whose plural ends in
/// `s`.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Prints what the command line's parser answers instead of arguments: an error, or the help that
/// was asked for. Returns the exit status.
pub fn answer(answer: &clap::Error) -> ExitCode {
    let printed = answer.print().and_then(|()| io::stdout().flush());
    match check().and(printed.map_err(PrintError)) {
        Err(error) if !answer.use_stderr() => {
            if !error.is_reader_gone() {
                eprintln!("error: {:#}", anyhow::Error::new(error));
            }
            ExitCode::FAILURE
        }
        _ => u8::try_from(answer.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from),
    }
}

/// Set if standard output was closed when the program was started. Before `main`, the standard
/// library opens /dev/null in its place.
static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

fn check() -> Result<(), PrintError> {
    if WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed").into());
    }
    Ok(())
}

// SAFETY: before `main`, the standard library cannot be relied on: this asks the system and writes
// an atomic, no more.
#[cfg(unix)]
#[ctor::ctor(unsafe)]
fn look_at_start() {
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(rustix::io::Errno::BADF);
    WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}
