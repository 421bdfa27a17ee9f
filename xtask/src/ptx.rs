//! `cargo xtask ptx`: the kernels as PTX and cubins, with what they need of the GPU.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use anyhow::Result;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use tilepipe_build::{Artifact, Builder, KernelReport};

use crate::{project, setup};

/// Builds the kernels and prints the report.
///
/// # Errors
///
/// Those of the set-up and of the build.
pub fn command() -> Result<()> {
    let artifact = build()?;
    let state = if artifact.fresh { "are up to date in" } else { "were built to" };
    println!("the kernels {state} {}", project::ptx().display());
    println!("{}", report(&artifact.report));
    Ok(())
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

fn build() -> Result<Artifact> {
    let toolchain = setup::ensure()?;
    println!("building the kernels to PTX");
    let builder = Builder::new(project::root().join("kernels"))
        .toolchain(toolchain)
        .target_dir(project::target().join("device"))
        .output_dir(project::ptx())
        .show_messages(true);
    let artifact = builder.build()?;
    BUILT.get_or_init(|| ());
    Ok(artifact)
}

/// One line for each kernel and architecture: the largest figures among its instances, which are hundreds.
fn report(kernels: &[KernelReport]) -> Table {
    let mut groups: BTreeMap<(&str, &str), Vec<&KernelReport>> = BTreeMap::new();
    for one in kernels {
        let function = one.kernel.split_once("__").map_or(one.kernel.as_str(), |(function, _)| function);
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
