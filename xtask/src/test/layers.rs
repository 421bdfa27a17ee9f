//! What each layer runs.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use clap::ValueEnum;
use tilepipe_runner_cli::NO_GPU;
use xtask_front::build::Program;

use super::Printed;
use super::count::Count;
use super::targets::{self, GPU, PAGE, STANDALONE, TestTarget, UI_TESTS};
use crate::pytorch::{self, Environment};
use crate::{lint, process, project, ptx, setup, tidy};

/// A layer of tests, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layer {
    /// The format.
    Format,
    /// What `cargo xtask tidy` looks at.
    Tidy,
    /// clippy.
    Clippy,
    /// The documentation builds.
    Rustdoc,
    /// The kernels build to PTX and assemble.
    Ptx,
    /// Unit, property, integration and code generation tests.
    Tests,
    /// The documentation's examples.
    Doctests,
    /// Programs that must not compile, and their neighbours.
    Ui,
    /// The example and a new workspace, built outside of the repository.
    Standalone,
    /// The extension for Python: its wheel, and its tests with NumPy.
    Pytorch,
    /// The benchmark's page in a browser.
    Page,
    /// The CPU executor's memory under Miri.
    Miri,
    /// All kernels on the CPU under every schedule.
    Cpu,
    /// All kernels and tests on the GPU.
    Gpu,
}

/// What came of a layer.
pub enum Outcome {
    /// It ran.
    Ran(Count),
    /// It cannot run here, for this reason.
    Skipped(String),
}

impl Layer {
    /// The name that `--layer` takes.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// One line of what it is.
    pub fn heading(self) -> &'static str {
        match self {
            Layer::Format => "format",
            Layer::Tidy => "comments, imports and the map",
            Layer::Clippy => "clippy, no warnings",
            Layer::Rustdoc => "documentation, no warnings",
            Layer::Ptx => "kernels to PTX",
            Layer::Tests => "unit, property, integration and code generation tests",
            Layer::Doctests => "examples in the documentation",
            Layer::Ui => "programs that must not compile",
            Layer::Standalone => "the example and a new workspace outside of the repository",
            Layer::Pytorch => "the extension for Python: its wheel, and its tests with NumPy",
            Layer::Page => "the benchmark's page in a headless Chromium",
            Layer::Miri => "the CPU executor's memory under Miri",
            Layer::Cpu => "all kernels on the CPU, every schedule",
            Layer::Gpu => "all kernels and tests on the GPU",
        }
    }

    /// Runs it. `printed` gets what the tests' programs print; what others print is shown.
    ///
    /// # Errors
    ///
    /// What kept it from running; a test that fails is in the count.
    pub fn run(self, printed: &mut Printed) -> Result<Outcome> {
        match self {
            Layer::Format => check(&mut lint::format()),
            Layer::Tidy => {
                let findings = tidy::findings(project::root())?;
                findings.iter().for_each(|finding| printed.line(&finding.to_string()));
                Ok(Outcome::Ran(Count::one(findings.is_empty())))
            }
            Layer::Clippy => check(&mut lint::clippy()),
            Layer::Rustdoc => check(&mut lint::documentation()),
            Layer::Ptx => ptx::command().map(|()| Outcome::Ran(Count::one(true))),
            Layer::Tests => counted(&mut workspace_tests()?, printed).map(Outcome::Ran),
            Layer::Doctests => {
                let mut command = cargo_test(&["--workspace", "--exclude", UI_TESTS, "--doc"])?;
                counted(&mut command, printed).map(Outcome::Ran)
            }
            Layer::Ui => named(|target| target.package == UI_TESTS, printed),
            Layer::Standalone => named(|target| target.name == STANDALONE, printed),
            Layer::Pytorch => in_python(printed),
            Layer::Page => in_browser(printed),
            Layer::Miri => under_miri(printed),
            Layer::Cpu => on_cpu(printed),
            Layer::Gpu => on_gpu(printed),
        }
    }
}

/// A command that is one test in itself.
fn check(command: &mut Command) -> Result<Outcome> {
    process::run(command).map(|()| Outcome::Ran(Count::one(true)))
}

/// Builds the programs of [`Layer::Tests`].
///
/// # Errors
///
/// Those of the build.
pub fn build_tests() -> Result<()> {
    process::run(workspace_tests()?.arg("--no-run"))
}

/// Tests everything that is in no layer of its own.
fn workspace_tests() -> Result<Command> {
    let targets = targets::all()?;
    let without = targets::without_tests()?;
    let mut arguments = vec!["--workspace", "--exclude", UI_TESTS, "--lib", "--bins"];
    for package in &without {
        arguments.extend(["--exclude", package]);
    }
    let of_its_own = |target: &&TestTarget| [GPU, STANDALONE, PAGE].contains(&target.name.as_str());
    for target in targets.iter().filter(|target| target.package != UI_TESTS && !of_its_own(target)) {
        arguments.extend(["--test", target.name.as_str()]);
    }
    cargo_test(&arguments)
}

/// The test targets for which `belongs` holds.
fn named(belongs: fn(&TestTarget) -> bool, printed: &mut Printed) -> Result<Outcome> {
    let mut total = Count::default();
    let targets: Vec<TestTarget> = targets::all()?.into_iter().filter(belongs).collect();
    if targets.is_empty() {
        return Ok(Outcome::Skipped("the workspace has no such tests".to_owned()));
    }
    for target in targets {
        total += counted(&mut cargo_test(&["--package", &target.package, "--test", &target.name])?, printed)?;
    }
    Ok(Outcome::Ran(total))
}

/// Builds the wheel, installs it as on a machine without Rust, and runs its tests. What needs
/// PyTorch or a GPU is counted as skipped where there is none.
fn in_python(printed: &mut Printed) -> Result<Outcome> {
    let environment = match Environment::ensure() {
        Ok(environment) => environment,
        Err(reason) => return Ok(Outcome::Skipped(reason)),
    };
    let mut total = counted(&mut pytorch::kernel_tests(), printed)?;
    let installed = environment.install(&environment.build_wheel()?)?;
    let (mut tests, mut text) = (environment.tests(&installed), String::new());
    let status = printed.of(&mut tests, |line| text.extend([line, "\n"]))?;
    let count = Count::of_unittest(&text).unwrap_or(Count::one(false));
    ensure!(count.passed > 0, "no test of the extension passed");
    total += count;
    total.failed = total.failed.max(u64::from(!status.success()));
    Ok(Outcome::Ran(total))
}

/// The variable that names the browser, for the tests too.
const CHROMIUM: &str = "CHROMIUM";

/// What Chromium is called where that variable is not set.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// The tests of [`PAGE`], which cargo alone ignores: they cannot pass without a browser.
fn in_browser(printed: &mut Printed) -> Result<Outcome> {
    let Some(browser) = browser(std::env::var_os(CHROMIUM)) else {
        return Ok(Outcome::Skipped(format!(
            "no Chromium: none of {} starts; {CHROMIUM} names another",
            BROWSERS.join(", ")
        )));
    };
    let mut total = Count::default();
    for target in targets::all()?.into_iter().filter(|target| target.name == PAGE) {
        let arguments = ["--package", &target.package, "--test", &target.name, "--", "--include-ignored"];
        let mut command = cargo_test_without_kernels(&arguments);
        total += counted(command.env(CHROMIUM, &browser), printed)?;
    }
    ensure!(total.passed + total.failed > 0, "no test opens a page");
    Ok(Outcome::Ran(total))
}

/// The browser that is named, or else the first of [`BROWSERS`] that starts. One that is named is
/// not tried: if it does not start, the tests fail.
fn browser(named: Option<OsString>) -> Option<OsString> {
    let starts = |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|probe| probe.status.success());
    named.filter(|name| !name.is_empty()).or_else(|| BROWSERS.into_iter().find(starts).map(OsString::from))
}

/// The unit tests of `tilepipe` that run under Miri: those of the collectives' scratch memory and
/// of the model of copies.
const FOR_MIRI: [&str; 2] = ["group::scratch::", "isa::host::model::"];

/// The tests of [`FOR_MIRI`]: Miri checks each of their accesses against Rust's aliasing model.
fn under_miri(printed: &mut Printed) -> Result<Outcome> {
    // A component of nightly toolchains alone, and this repository's is not one.
    if !process::nightly_cargo(["miri", "--version"]).output().is_ok_and(|probe| probe.status.success()) {
        return Ok(Outcome::Skipped(
            "Miri is not installed: `rustup component add --toolchain nightly miri`".to_owned(),
        ));
    }
    let mut command = process::nightly_cargo(["miri", "test", "--package", "tilepipe", "--lib", "--"]);
    command.args(FOR_MIRI).env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let count = counted(&mut command, printed)?;
    ensure!(count.passed + count.failed > 0, "no unit test of tilepipe has one of these names: {FOR_MIRI:?}");
    Ok(Outcome::Ran(count))
}

/// All kernels at a size for speed, and all configurations at an odd one, under each schedule.
fn on_cpu(printed: &mut Printed) -> Result<Outcome> {
    let program = runner()?;
    let mut total = Count::default();
    for schedule in ["eager", "lazy", "random"] {
        for arguments in [["--elements", "2^20"].as_slice(), &EVERY_CONFIGURATION] {
            let mut command = Command::new(&program);
            command.args(["--device", "cpu", "--schedule", schedule]);
            total += counted(command.args(arguments), printed)?;
        }
    }
    Ok(Outcome::Ran(total))
}

/// Arguments for every configuration at a size that is a multiple of nothing.
const EVERY_CONFIGURATION: [&str; 9] =
    ["--quiet", "--elements", "100_003", "--dtype", "all", "--block", "all", "--stages", "all"];

fn on_gpu(printed: &mut Printed) -> Result<Outcome> {
    let program = runner()?;
    ptx::ensure()?;
    let probe = Command::new(&program).args(["--device", "gpu", "--probe", "--module"]).arg(project::ptx()).output()?;
    let reason = String::from_utf8_lossy(&probe.stderr);
    let reason = reason.trim().trim_start_matches("error: ");
    match probe.status.code() {
        Some(0) => {}
        // One that cannot be used is another failure.
        Some(status) if status == i32::from(NO_GPU) => return Ok(Outcome::Skipped(reason.to_owned())),
        _ => bail!("there is a GPU, but it cannot be used: {reason}"),
    }
    let mut total = Count::default();
    if let Outcome::Ran(count) = named(|target| target.name == GPU, printed)? {
        total += count;
    }
    let mut every = Command::new(&program);
    every.args(["--device", "gpu"]).args(EVERY_CONFIGURATION).arg("--module").arg(project::ptx());
    total += counted(&mut every, printed)?;
    let mut stress = Command::new(&program);
    stress.args(["--device", "gpu", "--stress", "1000", "--module"]).arg(project::test_ptx().join("kernels"));
    total += Count::one(process::run(&mut stress).is_ok());
    Ok(Outcome::Ran(total))
}

/// Builds `tilepipe-run` in the profile of the tests.
fn runner() -> Result<std::path::PathBuf> {
    process::build(&Program {
        what: "the runner",
        package: "tilepipe-run",
        name: "tilepipe-run",
        profile: "dev",
        first_time: "some minutes",
    })
}

/// `cargo test` to the end, whatever fails, with the tests told where the kernels and the compiler
/// for them lie.
///
/// # Errors
///
/// Those of the kernels' build.
fn cargo_test(arguments: &[&str]) -> Result<Command> {
    ptx::ensure()?;
    Ok(cargo_test_without_kernels(arguments))
}

/// The same for tests that need no kernels: it does not build them.
fn cargo_test_without_kernels(arguments: &[&str]) -> Command {
    let mut command = process::cargo(["test", "--no-fail-fast"].into_iter().chain(arguments.iter().copied()));
    command.env("TILEPIPE_PTX_DIR", project::ptx()).env("TILEPIPE_TEST_PTX_DIR", project::test_ptx());
    // What the compiler prints is part of some tests; flags of this shell are not.
    command.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    setup::export(&mut command);
    command
}

/// Runs a command and counts the tests in what it prints. A failure without a failed test is one
/// itself.
fn counted(command: &mut Command, printed: &mut Printed) -> Result<Count> {
    let mut total = Count::default();
    let status = printed.of(command, |line| total += Count::of_line(line))?;
    if !status.success() {
        printed.line(&format!("error: `{}` failed: {status}", process::text(command)));
        total.failed = total.failed.max(1);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_under_miri_is_there() {
        for filter in FOR_MIRI {
            let module = format!("device/src/{}", filter.trim_end_matches("::").replace("::", "/"));
            let text = |file: &str| std::fs::read_to_string(project::root().join(file)).ok();
            let text = text(&format!("{module}.rs")).or_else(|| text(&format!("{module}/mod.rs"))).unwrap_or_default();
            assert!(text.contains("#[cfg(test)]\nmod tests {"), "`{filter}`: no tests in {module}");
        }
    }
    #[test]
    fn a_browser_that_is_named_is_taken_though_it_does_not_start() {
        assert_eq!(browser(Some("no-such-browser".into())), Some("no-such-browser".into()));
        assert_eq!(browser(Some(OsString::new())), browser(None), "an empty name is none");
    }

    #[test]
    fn the_tests_that_need_a_browser_are_there() {
        let page = targets::all().unwrap().into_iter().filter(|target| target.name == PAGE);
        assert_eq!(page.map(|target| target.package).collect::<Vec<_>>(), ["tilepipe-bench"]);
    }
}
