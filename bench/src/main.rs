//! `tilepipe-bench`: compares tilepipe's kernels with CUDA C++ peers that do the same work.
//!
//! All are launched by the same code, in turns, in one run on one GPU; a kernel whose results are wrong gets no time. Peers that
//! are known to race are timed all the same, and their wrong elements counted.
//! The program exits with 1 if a result is wrong or a ratio is below what is wanted, and with 3 if there is no GPU.

mod catalog;
mod copy;
mod machine;
mod measure;
mod pairings;
mod peers;
mod report;
mod statistics;
mod work;

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use tilepipe::I32x4;
use tilepipe_host::{Device, Error, Module};
use tilepipe_runner::data;
use tilepipe_runner::value::DType;

use catalog::Comparison;
use measure::Bench;
use report::{Report, Row, Timing};

/// The exit status where there is no GPU, so that a script can tell this from a failure.
const NO_GPU: u8 = 3;

/// Compares tilepipe's kernels with CUDA C++ on one GPU.
#[derive(Parser, Debug)]
#[command(name = "tilepipe-bench", version)]
struct Cli {
    /// The folder with our kernels' PTX and cubins
    #[arg(long, value_name = "DIR")]
    module: PathBuf,

    /// The folder with the peers' PTX and cubin, which `peers/build.sh` makes
    #[arg(long, value_name = "DIR")]
    peers: PathBuf,

    /// How much data, as a power of two of 4-byte numbers: 28 is 1 GiB for each input and for the output
    #[arg(long, value_name = "N", default_value_t = 28, value_parser = clap::value_parser!(u32).range(10..=32))]
    elements_log2: u32,

    /// Only kernels whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    kernel: String,

    /// Timed launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,

    /// Where to write the results as JSON
    #[arg(long, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// The command to put on record [default: this program's own command line]
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,

    /// The commit to put on record
    #[arg(long, value_name = "HASH", default_value = "unknown")]
    commit: String,
}

fn main() -> ExitCode {
    match run(&Cli::parse()) {
        Ok(failures) if failures.is_empty() => ExitCode::SUCCESS,
        Ok(failures) => {
            for failure in failures {
                eprintln!("error: {failure}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            match error.downcast_ref() {
                Some(Error::NoDriver | Error::NoSuchGpu { count: 0, .. }) => ExitCode::from(NO_GPU),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Measures everything, and returns what is wrong or too slow.
fn run(cli: &Cli) -> Result<Vec<String>> {
    let mut comparisons = catalog::comparisons()?;
    comparisons.retain(|comparison| comparison.ours.kernel().contains(&cli.kernel));
    let date = machine::now();
    let device = Device::gpu(0).context("the comparison runs on a GPU")?;
    device.load(&Module::read(&cli.module)?)?;
    device.load(&Module::read(&cli.peers)?)?;
    let stream = device.stream()?;
    let repetitions = cli.repetitions as usize;
    let numbers = 1_usize << cli.elements_log2;
    let bytes = 4 * numbers as u64;

    let (major, minor) = device.compute_capability().unwrap_or_default();
    let mut report = Report {
        date,
        commit: cli.commit.clone(),
        command: cli.command.clone().unwrap_or_else(|| std::env::args().collect::<Vec<_>>().join(" ")),
        gpu: device.name().to_owned(),
        compute_capability: format!("{major}.{minor}"),
        driver: machine::driver_version(),
        bytes,
        repetitions,
        copy: Timing::of(&copied(&device, numbers, repetitions)?, 2 * bytes),
        comparisons: Vec::new(),
    };
    let of_type = |dtype| comparisons.iter().filter(|c| c.dtype == dtype).collect::<Vec<&Comparison>>();
    let bench = Bench { device: &device, stream: &stream, repetitions };
    let mut rows = Vec::new();
    bench.run::<i32>(numbers, &of_type(DType::I32), |c, outcomes| rows.push(Row::new(c, &outcomes, bytes)))?;
    bench.run::<I32x4>(numbers / 4, &of_type(DType::I32x4), |c, outcomes| rows.push(Row::new(c, &outcomes, bytes)))?;
    report.comparisons = rows;

    let gibibytes = bytes as f64 / f64::from(1 << 30);
    let Report { gpu, driver, .. } = &report;
    let head = format!("{gpu}, driver {driver}: {gibibytes} GiB for each input and output, medians of {repetitions}");
    // A reader that has gone away (`| head`) is no error.
    let _ = writeln!(io::stdout(), "{head}\n{}", report.table());
    if let Some(path) = &cli.output {
        let json = serde_json::to_string_pretty(&report)? + "\n";
        fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(report.failures())
}

/// Times the driver's own copy of `numbers` random 4-byte numbers.
fn copied(device: &Device, numbers: usize, repetitions: usize) -> Result<Vec<f64>> {
    let data: Vec<i32> = data::generate(numbers, data::DEFAULT_SEED).map_err(anyhow::Error::msg)?;
    copy::time(device, bytemuck::cast_slice(&data), repetitions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
