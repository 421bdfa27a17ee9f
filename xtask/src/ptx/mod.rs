//! `cargo xtask ptx`: the kernels as PTX and cubins, with what they need of the GPU.

mod compare;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use tilepipe_build::{Artifact, Builder, KernelReport};

use crate::{project, setup};

use compare::Files;

/// The options of `cargo xtask ptx`.
#[derive(Args)]
pub struct Options {
    /// Then print, entry by entry, what differs from the PTX of another build, and fail if anything does
    ///
    /// OLD_DIR is the target folder of the other build, or a folder that holds the kernels' .ptx files. Left out are the names of
    /// symbols, registers and labels, the places of panics (file, line and column), the constants of the kernels' contracts, the
    /// comments, `.version` and `.target`. Entries are matched by their names without the crate. Functions that an entry calls
    /// and variables that it uses belong to it.
    #[arg(long, value_name = "OLD_DIR")]
    compare: Option<PathBuf>,
    /// Build nothing and compare with the PTX in this folder
    #[arg(long, requires = "compare", value_name = "NEW_DIR")]
    with: Option<PathBuf>,
    /// Build only this kernel function, for one architecture, to target/run-ptx/ (may be repeated)
    #[arg(long = "kernel", value_name = "NAME", conflicts_with = "compare")]
    kernels: Vec<String>,
    /// Build for this architecture only, such as sm_90, to target/run-ptx/ [default with --kernel: sm_90]
    #[arg(long, value_name = "ARCH", conflicts_with = "compare")]
    arch: Option<String>,
}

/// Builds all kernels and prints the report; then compares them with another build's, if so asked.
///
/// # Errors
///
/// Those of the set-up and of the build, and what cannot be read. A difference is in the exit status.
pub fn run(options: &Options) -> Result<ExitCode> {
    if !options.kernels.is_empty() || options.arch.is_some() {
        let (folder, artifact) = build_for(options.arch.as_deref().unwrap_or("sm_90"), &options.kernels)?;
        say(&artifact, &folder);
        return Ok(ExitCode::SUCCESS);
    }
    let old = options.compare.as_deref().map(Files::find).transpose()?;
    if options.with.is_none() {
        command()?;
        ensure_for_tests()?;
    }
    let Some(old) = old else { return Ok(ExitCode::SUCCESS) };
    let new = Files::find(options.with.as_deref().unwrap_or(&project::target()))?;
    Ok(if compare::compare(old, new)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds the kernels and prints the report.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn command() -> Result<()> {
    say(&build()?, &project::ptx());
    Ok(())
}

/// Prints where an artifact is and what its kernels need.
fn say(artifact: &Artifact, folder: &Path) {
    let state = if artifact.fresh { "are up to date in" } else { "were built to" };
    println!("the kernels {state} {}", folder.display());
    println!("{}", report(&artifact.report));
}

/// Builds the kernels unless this process has done so already.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn ensure() -> Result<()> {
    if BUILT.get().is_none() {
        build()?;
    }
    Ok(())
}

/// Set once the kernels are built.
static BUILT: OnceLock<()> = OnceLock::new();
/// Set once those that only tests read are built.
static BUILT_FOR_TESTS: OnceLock<()> = OnceLock::new();

/// Builds the kernels, and those that only tests read to `target/test-ptx/`, one folder a crate, unless this process has done so
/// already.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn ensure_for_tests() -> Result<()> {
    ensure()?;
    if BUILT_FOR_TESTS.get().is_none() {
        println!("building the kernels that only tests read to PTX");
        for krate in ["codegen-kernels", "twins"] {
            let from = project::root().join("tests").join(krate);
            let builder = builder(from, project::device(), project::test_ptx().join(krate))?;
            // The twins are what the kernels' types forbid, by hand.
            let builder = if krate == "twins" { builder.allow_thread_level_code() } else { builder };
            builder.build()?;
        }
        BUILT_FOR_TESTS.get_or_init(|| ());
    }
    Ok(())
}

fn build() -> Result<Artifact> {
    println!("building the kernels to PTX");
    let artifact = build_crate(project::root().join("kernels"), project::device(), project::ptx())?;
    BUILT.get_or_init(|| ());
    Ok(artifact)
}

/// Builds the kernels into an empty folder, and once more with nothing changed; returns what each took. The folder is removed
/// before and after.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn time_builds(folder: &Path) -> Result<[(&'static str, Duration); 2]> {
    setup::ensure()?;
    let clear = || match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let time = || {
        let start = Instant::now();
        build_crate(project::root().join("kernels"), folder.join("device"), folder.join("ptx"))?;
        anyhow::Ok(start.elapsed())
    };
    clear().with_context(|| format!("cannot empty {}", folder.display()))?;
    println!("building the kernels into an empty folder");
    let times = [("build of the kernels from nothing", time()?), ("the same with nothing changed", time()?)];
    clear().with_context(|| format!("cannot empty {}", folder.display()))?;
    Ok(times)
}

/// Builds the kernel crate in one folder to another folder, by way of a third that keeps what can be used again.
fn build_crate(from: PathBuf, by: PathBuf, to: PathBuf) -> Result<Artifact> {
    Ok(builder(from, by, to)?.build()?)
}

/// The builder for that.
fn builder(from: PathBuf, by: PathBuf, to: PathBuf) -> Result<Builder> {
    Ok(Builder::new(from).toolchain(setup::ensure()?).target_dir(by).output_dir(to).show_messages(true))
}

/// One line for each kernel and architecture: the largest figures among its instances, which are hundreds.
fn report(kernels: &[KernelReport]) -> Table {
    let mut groups: BTreeMap<(&str, &str), Vec<&KernelReport>> = BTreeMap::new();
    for one in kernels {
        let name = one.kernel.split_once('$').map_or(one.kernel.as_str(), |(_, name)| name);
        let function = name.split_once("__").map_or(name, |(function, _)| function);
        groups.entry((function, &one.arch)).or_default().push(one);
    }
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header(["kernel", "for", "instances", "registers", "spilled bytes", "stack bytes", "barriers"]);
    for ((function, arch), group) in groups {
        let most = |figure: fn(&KernelReport) -> u64| {
            let largest = group.iter().map(|one| figure(one)).max().unwrap_or(0);
            Cell::new(largest).set_alignment(CellAlignment::Right)
        };
        table.add_row([
            Cell::new(function),
            Cell::new(arch),
            Cell::new(group.len()).set_alignment(CellAlignment::Right),
            most(|one| one.registers.into()),
            most(|one| u64::from(one.spill_stores) + u64::from(one.spill_loads)),
            most(|one| one.stack_frame.into()),
            most(|one| one.barriers.into()),
        ]);
    }
    table
}

/// Builds the kernel functions of these names, or all, for a run on a GPU of this architecture, such
/// as `sm_90`, and returns their folder, which is not that of [`ensure`].
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn for_run(architecture: &str, kernels: &[String]) -> Result<PathBuf> {
    Ok(build_for(architecture, kernels)?.0)
}

/// Builds the kernels for one architecture to a folder, and their hand-written twins to another one
/// if there is one.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn for_bundle(architecture: &str, kernels: &Path, twins: Option<&Path>) -> Result<()> {
    println!("building the kernels to PTX and machine code for {architecture} (minutes, if all are new)");
    let builder = |krate, folder: &Path| {
        builder(project::root().join(krate), project::device(), folder.to_owned())
            .map(|builder| builder.architectures([architecture]))
    };
    builder("kernels", kernels)?.build()?;
    if let Some(folder) = twins {
        builder("tests/twins", folder)?.allow_thread_level_code().build()?;
    }
    Ok(())
}

fn build_for(architecture: &str, kernels: &[String]) -> Result<(PathBuf, Artifact)> {
    let folder = project::run_ptx();
    println!("building the kernels to PTX and machine code for {architecture} (minutes, if all are new)");
    let builder = builder(project::root().join("kernels"), project::device(), folder.clone())?;
    let artifact = builder.architectures([architecture]).kernels(kernels).build()?;
    Ok((folder, artifact))
}
