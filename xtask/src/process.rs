//! Starting other programs, with errors that name the command.

use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

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
    forget_own_package(&mut command, &TOOLCHAIN);
    command
}

/// Has a command run without what cargo has set for this program's package, and without these
/// variables.
pub fn forget_own_package(command: &mut Command, others: &[&str]) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") || others.contains(&&*text) {
            command.env_remove(name);
        }
    }
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

/// Runs a command to its end and hands each line of its standard output to `line`; standard error
/// is seen.
///
/// # Errors
///
/// If the command cannot be started or its output not be read. A failure of its own is in the
/// status.
pub fn stream(command: &mut Command, line: impl FnMut(&str)) -> Result<ExitStatus> {
    let mut child = start(command.stdout(Stdio::piped()))?;
    if let Some(stdout) = child.stdout.take() {
        lines(stdout, line)?;
    }
    Ok(child.wait()?)
}

/// As [`stream`], with the lines of standard error too, in the order in which they are written.
///
/// # Errors
///
/// As for [`stream`].
pub fn stream_all(command: &mut Command, line: impl FnMut(&str)) -> Result<ExitStatus> {
    let (reader, writer) = std::io::pipe()?;
    let mut child = start(command.stdout(writer.try_clone()?).stderr(writer))?;
    // The command holds the pipe's other end, and the reader waits until nobody does.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    lines(reader, line)?;
    Ok(child.wait()?)
}

fn start(command: &mut Command) -> Result<Child> {
    command.spawn().with_context(|| format!("cannot start `{}`", text(command)))
}

fn lines(from: impl Read, mut line: impl FnMut(&str)) -> Result<()> {
    let mut reader = BufReader::new(from);
    let mut bytes = Vec::new();
    while reader.read_until(b'\n', &mut bytes)? > 0 {
        line(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']));
        bytes.clear();
    }
    Ok(())
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn lines_of_both_streams_are_read_in_their_order_and_to_the_end() {
        let mut lines = Vec::new();
        let mut command = Command::new("sh");
        command.args(["-c", "echo a; echo b >&2; printf 'c\\r\\n'; printf d >&2; exit 3"]);
        let status = stream_all(&mut command, |line| lines.push(line.to_owned())).unwrap();
        assert_eq!((lines.concat().as_str(), status.code()), ("abcd", Some(3)));

        lines.clear();
        let status = stream(Command::new("sh").args(["-c", "echo a; echo b 2>/dev/null >&2; echo c"]), |line| {
            lines.push(line.to_owned());
        });
        assert_eq!((lines.concat().as_str(), status.unwrap().code()), ("ac", Some(0)));
    }
}
