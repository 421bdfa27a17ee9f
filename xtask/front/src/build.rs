//! Building the programs of the workspace, and starting them.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::project;

/// What cargo sets for the program that it runs; a cargo below us would take it for its own and
/// build things anew.
const SET_BY_CARGO: [&str; 5] =
    ["CARGO_MANIFEST_", "CARGO_PKG_", "CARGO_BIN_NAME", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE"];

/// A build that is not the first is announced if it takes longer than this. Most find nothing to
/// do.
const PATIENCE: Duration = Duration::from_millis(800);

/// A program of the workspace.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// What it is, for the line that announces its build.
    pub what: &'static str,
    /// Its package.
    pub package: &'static str,
    /// Its own name.
    pub name: &'static str,
    /// Its profile: `xtask`, `dev` or `release`.
    pub profile: &'static str,
    /// How long its first build takes, such as `about 20 s`.
    pub first_time: &'static str,
}

impl Program {
    /// Where it lies once it is built.
    pub fn path(&self) -> PathBuf {
        let folder = if self.profile == "dev" { "debug" } else { self.profile };
        project::program(folder, self.name)
    }

    /// Builds it and returns where it lies.
    ///
    /// The first build is announced by a line on standard error, and cargo's own lines follow. A
    /// later one is announced only if it takes longer than cargo needs to see that nothing has
    /// changed.
    ///
    /// # Errors
    ///
    /// If cargo cannot be started or fails. What is wrong with the program itself cargo has
    /// printed.
    pub fn build(&self) -> Result<PathBuf, String> {
        self.build_with(&[])
    }

    /// As [`Program::build`], with these environment variables for the compiler.
    ///
    /// # Errors
    ///
    /// As for [`Program::build`].
    pub fn build_with(&self, variables: &[(&str, &str)]) -> Result<PathBuf, String> {
        let Program { what, package, name, profile, first_time } = *self;
        let path = self.path();
        let mut command = cargo(["build", "--profile", profile, "--package", package, "--bin", name]);
        command.envs(variables.iter().copied());
        let status = if path.exists() {
            command.arg("--quiet");
            let word = || eprintln!("building {what}, of which something has changed");
            with_late_word(PATIENCE, word, || command.status())
        } else {
            eprintln!("building {what} ({first_time} the first time, and longer if crates are to be downloaded)");
            command.status()
        };
        let status = status.map_err(|error| format!("cannot start cargo: {error}"))?;
        if status.success() { Ok(path) } else { Err(format!("{what} could not be built: cargo ended with {status}")) }
    }
}

/// The cargo that runs us, in the workspace's root.
pub fn cargo<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(project::root());
    for (name, _) in std::env::vars_os() {
        if SET_BY_CARGO.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs the program in our place: a signal to us is one to it.
///
/// # Errors
///
/// If it cannot be started.
#[cfg(unix)]
pub fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    io::stdout().flush()?;
    Err(command.exec())
}

/// Runs the program to its end.
///
/// # Errors
///
/// If it cannot be started.
#[cfg(not(unix))]
pub fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    io::stdout().flush()?;
    let code = command.status()?.code();
    Ok(code.map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}

/// Does `work`, and says `word` once if that takes longer than `patience`.
fn with_late_word<R>(patience: Duration, word: impl FnOnce() + Send, work: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        scope.spawn(move || {
            if is_done.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                word();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::cell::Cell;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn only_what_takes_long_is_announced() {
        let words = AtomicU32::new(0);
        let count = || {
            words.fetch_add(1, Ordering::Relaxed);
        };
        let worked = Cell::new(0);
        with_late_word(Duration::from_secs(30), count, || worked.set(1));
        assert_eq!((worked.get(), words.load(Ordering::Relaxed)), (1, 0));
        let told = with_late_word(Duration::from_millis(1), count, || {
            for _ in 0..20_000 {
                if words.load(Ordering::Relaxed) > 0 {
                    return true;
                }
                thread::sleep(Duration::from_millis(1));
            }
            false
        });
        assert!(told);
    }

    #[test]
    fn a_cargo_below_us_takes_nothing_for_its_own() {
        let command = cargo(["build"]);
        let removed = |name: &str| command.get_envs().any(|(key, value)| key == name && value.is_none());
        // Cargo sets these for its tests too.
        assert!(removed("CARGO_MANIFEST_DIR") && removed("CARGO_PKG_NAME"));
        assert_eq!(command.get_current_dir(), Some(project::root()));
        assert!(project::root().join("xtask/front/Cargo.toml").is_file());
    }
}
