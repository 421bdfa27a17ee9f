//! `cargo tilepipe report`: what each kernel needs of a GPU, and how many blocks of it fit.

mod occupancy;

use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{Cell, CellAlignment, Table};
use tilepipe_build::{Artifact, Builder, KernelReport};

use crate::workspace;
use occupancy::{Limits, Occupancy};

/// The options of `cargo tilepipe report`.
#[derive(Args)]
pub struct Options {
    /// The GPU's architecture: `sm_80` is an A100, `sm_90` an H100 or H200, `sm_100` a B200
    #[arg(long, value_name = "ARCH", default_value = "sm_90")]
    gpu: String,
    /// The crate with the kernels, where the workspace has several
    #[arg(long, short, value_name = "NAME")]
    package: Option<String>,
}

/// Builds the kernels, and prints a line for each instance.
///
/// # Errors
///
/// No crate with kernels, a GPU that is not known, or those of the build.
pub fn command(options: &Options) -> Result<ExitCode> {
    let limits = Limits::of(&options.gpu).with_context(|| {
        let known = occupancy::KNOWN.map(|(number, _)| format!("sm_{number}")).join(", ");
        format!("`{}` is no GPU that tilepipe knows: they are {known}", options.gpu)
    })?;
    let kernels = workspace::kernel_crate(options.package.as_deref())?;
    let builder = Builder::new(&kernels.folder).architectures([&options.gpu]).show_messages(true);
    let artifact = builder.build().with_context(|| format!("the kernels of `{}` cannot be built", kernels.name))?;
    println!("{}", table(&artifact.report, &limits));
    println!(
        "on {}: at most {} blocks and {} warps a multiprocessor, {} KiB of shared memory, {} KiB a block",
        options.gpu,
        limits.blocks,
        limits.warps,
        limits.shared / 1024,
        limits.shared_of_block / 1024
    );
    for line in left_out(&artifact, &options.gpu) {
        println!("{line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// One line for each instance.
fn table(kernels: &[KernelReport], limits: &Limits) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED);
    table.set_header([
        "kernel",
        "threads",
        "registers",
        "static shared",
        "dynamic shared",
        "blocks",
        "warps",
        "bound by",
        "stack",
        "spills",
        "barriers",
    ]);
    for kernel in kernels {
        let Occupancy { blocks, warps, bound } = occupancy::of(kernel, limits);
        let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
        let number = |number: u32| right(number.to_string());
        table.add_row([
            Cell::new(instance(&kernel.kernel)),
            number(kernel.threads),
            number(kernel.registers),
            number(kernel.shared_bytes),
            number(kernel.dynamic_shared),
            number(blocks),
            right(format!("{warps} of {} ({} %)", limits.warps, 100 * warps / limits.warps)),
            Cell::new(bound),
            number(kernel.stack.max(kernel.stack_frame)),
            number(kernel.spill_stores.saturating_add(kernel.spill_loads)),
            number(kernel.barriers),
        ]);
    }
    table
}

/// Kernels that are in no line, as the GPU cannot run them.
fn left_out(artifact: &Artifact, gpu: &str) -> Vec<String> {
    let images = artifact.images.iter().filter(|image| image.cubins.is_empty());
    images
        .map(|image| {
            let kernel = image.name.split('.').next().unwrap_or_default();
            format!("`{kernel}` has no code for {gpu}: it is built for {} (`--gpu {}`)", image.target, image.target)
        })
        .collect()
}

/// A kernel's symbol without its crate.
fn instance(symbol: &str) -> &str {
    symbol.rsplit_once('$').map_or(symbol, |(_, instance)| instance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel as `report.json` has it.
    fn kernel(text: &str) -> KernelReport {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_line_has_the_figures_of_an_instance_and_what_fits() {
        let report = kernel(
            r#"{ "kernel": "demo_kernels$slope__256", "arch": "sm_90", "threads": 256, "registers": 72, "spill_stores": 4,
                 "spill_loads": 8, "stack_frame": 16, "stack": 32, "shared_bytes": 64, "dynamic_shared": 3168,
                 "constant_bytes": 600, "barriers": 1 }"#,
        );
        let table = table(&[report], &Limits::of("sm_90").unwrap()).to_string();
        let line = table.lines().find(|line| line.contains("slope__256")).expect(&table);
        let cells: Vec<&str> = line.split(['│', '┆']).map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let expected = ["slope__256", "256", "72", "64", "3168", "3", "24 of 64 (37 %)", "registers", "32", "12", "1"];
        assert_eq!(cells, expected);
    }
}
