//! The extension for Python, `examples/pytorch`: its wheel, and the tests that need NumPy alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{process, project, setup};

/// The variable that names the interpreter, also for `run.sh`.
const PYTHON: &str = "PYTHON";
/// What it is called where that variable is not set.
const DEFAULT: &str = "python3";
/// What the tests need beside the wheel, and what makes it.
const PACKAGES: [&str; 2] = ["maturin>=1.9,<2", "numpy>=2"];
/// The extension's name as Python writes it.
const NAME: &str = "tilepipe_torch";

/// Runs all tests of a folder; what is said of them goes to standard output.
const DISCOVER: &str = "import sys, unittest
runner = unittest.TextTestRunner(stream=sys.stdout, verbosity=2)
unittest.main(None, argv=['unittest', 'discover', '-s', sys.argv[1]], testRunner=runner)";

/// A virtual environment with what makes the wheel and what tests it.
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// Makes it in the target folder, or finds it there.
    ///
    /// # Errors
    ///
    /// Why there can be none on this machine: its Python, or no way to packages.
    pub fn ensure() -> Result<Environment, String> {
        let environment = Environment { folder: folder().join("environment") };
        if environment.is_whole() {
            return Ok(environment);
        }
        let python = std::env::var_os(PYTHON).unwrap_or_else(|| DEFAULT.into());
        let probe = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 9))";
        answers(Command::new(&python).args(["-c", probe])).map_err(|_| {
            let python = python.display();
            format!("`{python}` is no Python from 3.9 on with `venv` and `pip`; {PYTHON} names another one")
        })?;
        let failed = |error: String| format!("no environment with {} can be made: {error}", PACKAGES.join(" and "));
        answers(Command::new(&python).args(["-m", "venv", "--clear"]).arg(&environment.folder)).map_err(failed)?;
        let mut install = environment.pip();
        answers(install.args(["install", "--quiet"]).args(PACKAGES)).map_err(failed)?;
        Ok(environment)
    }

    /// Builds the wheel, with kernels for GPUs where this machine has a compiler for them.
    ///
    /// # Errors
    ///
    /// Those of the build.
    pub fn build_wheel(&self) -> Result<PathBuf> {
        let wheels = folder().join("wheels");
        if wheels.exists() {
            fs::remove_dir_all(&wheels).with_context(|| format!("cannot remove {}", wheels.display()))?;
        }
        let mut command = Command::new(self.program("maturin"));
        // The wheel is for machines like this one, and names none of a distribution's.
        command.args(["build", "--quiet", "--release", "--compatibility", "linux", "--interpreter"]);
        command.arg(self.program("python")).arg("--out").arg(&wheels);
        process::run(in_example(&mut command))?;
        wheel_in(&wheels)
    }

    /// Installs a wheel, and nothing else, into a folder that is made anew.
    ///
    /// # Errors
    ///
    /// Those of `pip`.
    pub fn install(&self, wheel: &Path) -> Result<PathBuf> {
        let installed = folder().join("installed");
        let from = wheel.parent().context("a wheel in a folder")?;
        if installed.exists() {
            fs::remove_dir_all(&installed).with_context(|| format!("cannot remove {}", installed.display()))?;
        }
        let mut command = self.pip();
        command.args(["install", "--quiet", "--no-index", "--no-deps", "--find-links"]).arg(from);
        process::run(command.arg("--target").arg(&installed).arg(NAME))?;
        Ok(installed)
    }

    /// The tests of the example over what is installed in a folder.
    pub fn tests(&self, installed: &Path) -> Command {
        let mut command = Command::new(self.program("python"));
        command.args(["-B", "-c", DISCOVER]).arg(example().join("tests"));
        command.env("PYTHONPATH", installed).current_dir(installed);
        command
    }

    fn is_whole(&self) -> bool {
        answers(Command::new(self.program("python")).args(["-c", "import numpy"])).is_ok()
            && answers(Command::new(self.program("maturin")).arg("--version")).is_ok()
    }

    fn pip(&self) -> Command {
        let mut command = Command::new(self.program("python"));
        command.args(["-m", "pip", "--disable-pip-version-check"]);
        command
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }
}

/// The tests of the extension's kernels, in Rust.
pub fn kernel_tests() -> Command {
    let mut command = Command::new("cargo");
    command.args(["test", "--quiet", "--release", "--package", "tilepipe-torch-kernels", "--lib"]);
    in_example(&mut command);
    command
}

/// The example's folder.
pub fn example() -> PathBuf {
    project::root().join("examples/pytorch")
}

/// Makes a command one in the example, with the workspace's compiler.
fn in_example(command: &mut Command) -> &mut Command {
    process::forget_own_package(command, &[]);
    setup::export(command);
    // What the workspace's settings say to its own builds.
    command.env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", folder().join("build")).current_dir(example())
}

/// The folder of all that is made here.
fn folder() -> PathBuf {
    project::target().join("pytorch")
}

/// The one wheel in a folder.
fn wheel_in(folder: &Path) -> Result<PathBuf> {
    let mut wheels = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        wheels.push(entry?.path());
    }
    wheels.retain(|path| path.extension().is_some_and(|ending| ending == "whl"));
    ensure!(wheels.len() == 1, "{} has {} wheels", folder.display(), wheels.len());
    Ok(wheels.remove(0))
}

/// Runs a command to its end, whose output nobody needs.
///
/// # Errors
///
/// The last line that it printed, if it fails.
fn answers(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| format!("`{}`: {error}", process::text(command)))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it says nothing");
    Err(format!("`{}`: {last}", process::text(command)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_wheel_or_it_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(wheel_in(folder.path()).unwrap_err().to_string().ends_with("has 0 wheels"));
        let wheel = folder.path().join("a-1-cp39-abi3-linux_x86_64.whl");
        for file in [&wheel, &folder.path().join("notes.txt")] {
            fs::write(file, "").unwrap();
        }
        assert_eq!(wheel_in(folder.path()).unwrap(), wheel);
        fs::write(folder.path().join("b-1-cp39-abi3-linux_x86_64.whl"), "").unwrap();
        assert!(wheel_in(folder.path()).unwrap_err().to_string().ends_with("has 2 wheels"));
    }

    #[cfg(unix)]
    #[test]
    fn why_a_command_fails_is_the_last_that_it_says() {
        let says = |script| answers(Command::new("sh").args(["-c", script]));
        says("exit 0").unwrap();
        assert!(says("echo one >&2; echo two >&2; echo >&2; exit 3").unwrap_err().ends_with("`: two"));
        assert!(says("exit 3").unwrap_err().ends_with("`: it says nothing"));
        assert!(answers(&mut Command::new("/no/such/program")).is_err());
    }
}
