//! `cargo xtask test`: every layer of tests that this machine can run.

mod count;
mod failures;
mod layers;
pub mod targets;

use std::collections::BTreeMap;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};
use comfy_table::Table;
use comfy_table::presets::UTF8_FULL_CONDENSED;

use crate::process;

use count::Count;
use failures::Failures;
use layers::{Layer, Outcome};

/// The options of `cargo xtask test`.
#[derive(Args)]
pub struct Options {
    /// Run only this layer (may be repeated)
    #[arg(long = "layer", value_enum, value_name = "NAME")]
    layers: Vec<Layer>,
}

/// Layers that mostly run one compiler after another, which leaves cores idle. They run while the
/// programs of [`Layer::Tests`] do, if those are to run too.
const BESIDE: [Layer; 2] = [Layer::Ui, Layer::Standalone];

/// Runs the layers and prints how they went; the last line counts tests.
///
/// # Errors
///
/// None of a test's: those are in the exit code.
pub fn run(options: &Options) -> Result<ExitCode> {
    let wanted = |layer: &Layer| options.layers.is_empty() || options.layers.contains(layer);
    let beside: Vec<Layer> = BESIDE.into_iter().filter(wanted).collect();
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(["layer", "result", "tests", "seconds"]);
    let (mut total, mut failures) = (Count::default(), Vec::new());
    std::thread::scope(|scope| {
        let (mut thread, mut done) = (None, BTreeMap::new());
        for layer in Layer::value_variants().iter().copied().filter(wanted) {
            println!("\n=== {}", layer.heading());
            // Its turn tells why if they do not build.
            if layer == Layer::Tests && !beside.is_empty() && layers::build_tests().is_ok() {
                let run = || beside.iter().map(|layer| (layer.name(), Ran::of(*layer, Printed::kept())));
                let names: Vec<String> = beside.iter().map(|layer| layer.name()).collect();
                println!("beside it: {}; what they print is shown when it is their turn", names.join(", "));
                thread = Some(scope.spawn(move || run().collect()));
            }
            if let Some(thread) = thread.take_if(|_| BESIDE.contains(&layer)) {
                done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
            let ran = done.remove(&layer.name()).unwrap_or_else(|| Ran::of(layer, Printed::shown()));
            print!("{}", ran.printed);
            if !ran.failures.is_empty() {
                failures.push((layer.name(), ran.failures));
            }
            total += ran.count;
            table.add_row([layer.name(), ran.result, ran.count.passed.to_string(), ran.time.as_secs().to_string()]);
        }
    });
    // The end of a long log is all that some see of it.
    for (layer, lines) in failures {
        println!("\n=== failed in {layer}");
        lines.iter().for_each(|line| println!("{line}"));
    }
    println!("\n{table}");
    println!("{} passed, {} failed, {} skipped", total.passed, total.failed, total.skipped);
    Ok(if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How a layer went.
struct Ran {
    count: Count,
    result: String,
    time: Duration,
    /// What is not on the screen yet.
    printed: String,
    /// What the tests that failed said.
    failures: Vec<String>,
}

impl Ran {
    fn of(layer: Layer, mut printed: Printed) -> Self {
        let start = Instant::now();
        let (count, result) = match layer.run(&mut printed) {
            Ok(Outcome::Ran(count)) if count.failed == 0 => (count, "passed".to_owned()),
            Ok(Outcome::Ran(count)) => (count, "FAILED".to_owned()),
            Ok(Outcome::Skipped(reason)) => {
                printed.line(&format!("skipped: {reason}"));
                (Count { skipped: 1, ..Count::default() }, format!("skipped: {reason}"))
            }
            Err(error) => {
                printed.line(&format!("error: {error:#}"));
                (Count::one(false), "FAILED".to_owned())
            }
        };
        let Printed { kept, failures } = printed;
        let (printed, failures) = (kept.unwrap_or_default(), failures.into_lines());
        Ran { count, result, time: start.elapsed(), printed, failures }
    }
}

/// What programs print: shown line by line, or kept for later.
pub struct Printed {
    kept: Option<String>,
    failures: Failures,
}

impl Printed {
    fn shown() -> Self {
        Printed { kept: None, failures: Failures::default() }
    }

    fn kept() -> Self {
        Printed { kept: Some(String::new()), ..Printed::shown() }
    }

    fn line(&mut self, line: &str) {
        self.failures.line(line);
        match &mut self.kept {
            None => println!("{line}"),
            Some(text) => text.extend([line, "\n"]),
        }
    }

    /// Runs a command to its end and hands each line of its standard output to `each`.
    ///
    /// # Errors
    ///
    /// If the command cannot be started or its output not be read. A failure of its own is in the
    /// status.
    fn of(&mut self, command: &mut Command, mut each: impl FnMut(&str)) -> Result<ExitStatus> {
        let whole = self.kept.is_some();
        let show = |line: &str| {
            self.line(line);
            each(line);
        };
        if whole { process::stream_all(command, show) } else { process::stream(command, show) }
    }
}
