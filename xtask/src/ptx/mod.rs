//! `cargo xtask ptx`: the kernels as PTX and cubins, with what they need of the GPU.

mod compare;

use std::collections::{BTreeMap, BTreeSet};
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
    /// Then print, entry by entry, what differs from the PTX of another build, and fail if anything
    /// does
    ///
    /// OLD_DIR is the target folder of the other build, or a folder that holds the kernels' .ptx
    /// files. Left out are the names of symbols, registers and labels, the places of panics (file,
    /// line and column), the constants of the kernels' contracts, the comments, `.version` and
    /// `.target`. Entries are matched by their names without the crate. Functions that an entry
    /// calls and variables that it uses belong to it.
    #[arg(long, value_name = "OLD_DIR")]
    compare: Option<PathBuf>,
    /// Build nothing and compare with the PTX in this folder
    #[arg(long, requires = "compare", value_name = "NEW_DIR")]
    with: Option<PathBuf>,
    /// Build only this kernel function, for one architecture, to target/run-ptx/ (may be repeated)
    #[arg(long = "kernel", value_name = "NAME", conflicts_with = "compare")]
    kernels: Vec<String>,
    /// Build for this architecture only, such as sm_90, to target/run-ptx/ [default with --kernel:
    /// sm_90]
    #[arg(long, value_name = "ARCH", conflicts_with = "compare")]
    arch: Option<String>,
    /// Print a table of what each kernel function needs of the GPU on each architecture: registers,
    /// local memory, barriers [always with --kernel]
    #[arg(long, conflicts_with = "with")]
    report: bool,
}

/// Builds the kernels and says what there is to say about them; then compares them with another
/// build's, if so asked.
///
/// # Errors
///
/// Those of the set-up and of the build, and what cannot be read. A difference is in the exit
/// status.
pub fn run(options: &Options) -> Result<ExitCode> {
    if !options.kernels.is_empty() || options.arch.is_some() {
        let (folder, artifact) = build_for(options.arch.as_deref().unwrap_or("sm_90"), &options.kernels)?;
        say(&artifact, &folder, options.report || !options.kernels.is_empty());
        return Ok(ExitCode::SUCCESS);
    }
    let old = options.compare.as_deref().map(Files::find).transpose()?;
    if options.with.is_none() {
        say(&build_all()?, &project::ptx(), options.report);
    }
    let Some(old) = old else { return Ok(ExitCode::SUCCESS) };
    let new = Files::find(options.with.as_deref().unwrap_or(&project::target()))?;
    Ok(if compare::compare(old, new)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds all kernels and says how many there are, and which of them `ptxas` warns of.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn command() -> Result<()> {
    say(&build_all()?, &project::ptx(), false);
    Ok(())
}

/// Prints where an artifact is, what there is to warn of, and what its kernels need if so asked.
fn say(artifact: &Artifact, folder: &Path, table: bool) {
    println!("{} {}", summary(&artifact.report, artifact.fresh), folder.display());
    for warning in artifact.warnings() {
        println!("warning: {warning}");
    }
    if table {
        println!("{}", report(&artifact.report));
    }
}

/// How many kernels there are, up to the folder's name.
fn summary(kernels: &[KernelReport], fresh: bool) -> String {
    let instances: BTreeSet<&str> = kernels.iter().map(|one| one.kernel.as_str()).collect();
    let functions: BTreeSet<&str> = instances.iter().map(|symbol| function(symbol)).collect();
    let architectures: BTreeSet<&str> = kernels.iter().map(|one| one.arch.as_str()).collect();
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "{} with {} for {} {}",
        count(functions.len(), "kernel"),
        count(instances.len(), "instance"),
        count(architectures.len(), "architecture"),
        if fresh { "up to date in" } else { "built to" }
    )
}

/// The kernel function of an entry's symbol.
fn function(symbol: &str) -> &str {
    let name = symbol.split_once('$').map_or(symbol, |(_, name)| name);
    name.split_once("__").map_or(name, |(function, _)| function)
}

/// Set once all kernels are built.
static BUILT: OnceLock<()> = OnceLock::new();

/// Builds the kernels, and those of tests to `target/test-ptx/`, one folder a crate, unless this
/// process has done so already.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn ensure() -> Result<()> {
    if BUILT.get().is_none() {
        build_all()?;
    }
    Ok(())
}

/// Builds all that there are; returns the artifact of the kernels.
fn build_all() -> Result<Artifact> {
    println!("building the kernels to PTX, and those of tests");
    let of_tests = |krate: &str| {
        builder(project::root().join("tests").join(krate), project::device(), project::test_ptx().join(krate))
    };
    let builders = [
        // The twins are what the kernels' types forbid, by hand.
        of_tests("twins")?.allow_thread_level_code(),
        of_tests("codegen-kernels")?,
        of_tests("kernels")?,
        builder(project::root().join("kernels"), project::device(), project::ptx())?,
    ];
    let kernels = tilepipe_build::build_all(&builders)?.pop().context("no crate was built")?;
    BUILT.get_or_init(|| ());
    Ok(kernels)
}

/// Builds the kernels into an empty folder, and once more with nothing changed; returns what each
/// took. The folder is removed before and after.
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

/// Builds the kernel crate in one folder to another folder, by way of a third that keeps what can
/// be used again.
fn build_crate(from: PathBuf, by: PathBuf, to: PathBuf) -> Result<Artifact> {
    Ok(builder(from, by, to)?.build()?)
}

/// The builder for that.
fn builder(from: PathBuf, by: PathBuf, to: PathBuf) -> Result<Builder> {
    Ok(Builder::new(from).toolchain(setup::ensure()?).target_dir(by).output_dir(to).show_messages(true))
}

/// One line for each kernel and architecture: the largest figures among its instances, which are
/// hundreds.
fn report(kernels: &[KernelReport]) -> Table {
    let mut groups: BTreeMap<(&str, &str), Vec<&KernelReport>> = BTreeMap::new();
    for one in kernels {
        groups.entry((function(&one.kernel), &one.arch)).or_default().push(one);
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
            most(|one| one.stack.into()),
            most(|one| one.barriers.into()),
        ]);
    }
    table
}

/// Builds the kernel functions of these names, or all, for a run on a GPU of this architecture,
/// such as `sm_90`, and returns their folder, which is not that of [`ensure`].
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn for_run(architecture: &str, kernels: &[String]) -> Result<PathBuf> {
    let (folder, artifact) = build_for(architecture, kernels)?;
    say(&artifact, &folder, false);
    Ok(folder)
}

/// Builds these kernel functions of `tests/kernels/`, for a stress run on a GPU of this
/// architecture, and returns their folder.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn for_stress(architecture: &str, kernels: &[&str]) -> Result<PathBuf> {
    let folder = project::stress_ptx();
    println!("building the kernels of the stress run to PTX and machine code for {architecture}");
    let builder = builder(project::root().join("tests/kernels"), project::device(), folder.clone())?;
    let artifact = builder.architectures([architecture]).kernels(kernels.iter().copied()).build()?;
    say(&artifact, &folder, false);
    Ok(folder)
}

/// Builds the kernels for one architecture to a folder; their hand-written twins, and the kernels
/// of tests, to others if there are any.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn for_bundle(architecture: &str, kernels: &Path, twins: Option<&Path>, of_tests: Option<&Path>) -> Result<()> {
    println!("building the kernels to PTX and machine code for {architecture} (minutes, if all are new)");
    let builder = |krate, folder: &Path| {
        builder(project::root().join(krate), project::device(), folder.to_owned())
            .map(|builder| builder.architectures([architecture]))
    };
    let twins = twins.map(|folder| anyhow::Ok(builder("tests/twins", folder)?.allow_thread_level_code()));
    let of_tests = of_tests.map(|folder| builder("tests/kernels", folder));
    let others = twins.into_iter().chain(of_tests);
    let builders: Vec<Builder> = others.chain([builder("kernels", kernels)]).collect::<Result<_>>()?;
    tilepipe_build::build_all(&builders)?;
    Ok(())
}

fn build_for(architecture: &str, kernels: &[String]) -> Result<(PathBuf, Artifact)> {
    let folder = project::run_ptx();
    println!("building the kernels to PTX and machine code for {architecture} (minutes, if all are new)");
    let builder = builder(project::root().join("kernels"), project::device(), folder.clone())?;
    let artifact = builder.architectures([architecture]).kernels(kernels).build()?;
    Ok((folder, artifact))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn kernels_and_instances_are_counted_once() {
        let one = |kernel: &str, arch: &str| -> KernelReport {
            let figures = "\"threads\":1,\"registers\":2,\"spill_stores\":0,\"spill_loads\":0,\"stack_frame\":0,\"shared_bytes\":0";
            let text = format!(
                "{{\"kernel\":\"{kernel}\",\"arch\":\"{arch}\",{figures},\"constant_bytes\":0,\"barriers\":1}}"
            );
            serde_json::from_str(&text).unwrap()
        };
        let kernels = [one("a$k__1", "sm_80"), one("a$k__2", "sm_80"), one("a$other", "sm_80"), one("a$k__1", "sm_90")];
        assert_eq!(summary(&kernels, false), "2 kernels with 3 instances for 2 architectures built to");
        assert_eq!(summary(&kernels[2..3], true), "1 kernel with 1 instance for 1 architecture up to date in");
        assert!(report(&kernels).to_string().contains("other"));
    }

    #[test]
    fn the_table_comes_on_request() {
        let parse = |line: &str| {
            crate::Cli::try_parse_from(line.split_whitespace()).map(|cli| match cli.command {
                crate::Command::Ptx(options) => options.report,
                _ => panic!("{line}"),
            })
        };
        assert!(!parse("xtask ptx").unwrap() && parse("xtask ptx --report").unwrap());
        assert!(parse("xtask ptx --compare old --report").unwrap());
        assert!(parse("xtask ptx --compare old --with new --report").is_err(), "nothing is built");
    }
}
