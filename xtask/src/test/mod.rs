//! `cargo xtask test`: every layer of tests that this machine can run, one after the other.

mod count;
mod layers;
pub mod targets;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;
use clap::{Args, ValueEnum};
use comfy_table::Table;
use comfy_table::presets::UTF8_FULL_CONDENSED;

use count::Count;
use layers::{Layer, Outcome};

/// The options of `cargo xtask test`.
#[derive(Args)]
pub struct Options {
    /// Run only this layer (may be repeated)
    #[arg(long = "layer", value_enum, value_name = "NAME")]
    layers: Vec<Layer>,
}

/// Runs the layers and prints how they went; the last line counts tests.
///
/// # Errors
///
/// None of a test's: those are in the exit code.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(["layer", "result", "tests", "seconds"]);
    let mut total = Count::default();
    for layer in Layer::value_variants() {
        if !options.layers.is_empty() && !options.layers.contains(layer) {
            continue;
        }
        println!("\n=== {}", layer.heading());
        let start = Instant::now();
        let (count, result) = match layer.run() {
            Ok(Outcome::Ran(count)) if count.failed == 0 => (count, "passed".to_owned()),
            Ok(Outcome::Ran(count)) => (count, "FAILED".to_owned()),
            Ok(Outcome::Skipped(reason)) => {
                println!("skipped: {reason}");
                (Count { skipped: 1, ..Count::default() }, format!("skipped: {reason}"))
            }
            Err(error) => {
                eprintln!("error: {error:#}");
                (Count::one(false), "FAILED".to_owned())
            }
        };
        total += count;
        table.add_row([layer.name(), result, count.passed.to_string(), start.elapsed().as_secs().to_string()]);
    }
    println!("\n{table}");
    println!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
