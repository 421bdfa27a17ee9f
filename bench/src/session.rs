//! `tilepipe-bench measure`: times every kernel beside its peers on one GPU.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use tilepipe::I32x4;
use tilepipe_host::{Device, Module};
use tilepipe_runner::data;
use tilepipe_runner::value::DType;

use crate::catalog::{self, Comparison};
use crate::measure::Bench;
use crate::record::{Report, Row, Timing};
use crate::{copy, machine, print, table};

/// What is measured, and where the record goes.
#[derive(Args, Debug)]
pub struct Options {
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

    #[command(flatten)]
    origin: machine::Origin,
}

/// Measures everything, and returns what is wrong or too slow.
///
/// # Errors
///
/// No GPU, kernels that are missing, too little memory, or a record that cannot be written.
pub fn run(options: &Options) -> Result<Vec<String>> {
    let mut comparisons = catalog::comparisons()?;
    comparisons.retain(|comparison| comparison.ours.kernel().contains(&options.kernel));
    let date = machine::now();
    let device = Device::gpu(0).context("the comparison runs on a GPU")?;
    device.load(&Module::read(&options.module)?)?;
    device.load(&Module::read(&options.peers)?)?;
    let stream = device.stream()?;
    let repetitions = options.repetitions as usize;
    let numbers = 1_usize << options.elements_log2;
    let bytes = 4 * numbers as u64;

    let (major, minor) = device.compute_capability().unwrap_or_default();
    let mut report = Report {
        date,
        commit: options.origin.commit.clone(),
        command: options.origin.command(),
        gpu: device.name().to_owned(),
        compute_capability: format!("{major}.{minor}"),
        driver: machine::driver_version(),
        bytes,
        repetitions,
        copy: Timing::of(&copied(&device, numbers, repetitions)?, 2 * bytes),
        comparisons: Vec::new(),
        sweeps: Vec::new(),
    };
    let of_type = |dtype| comparisons.iter().filter(|c| c.dtype == dtype).collect::<Vec<&Comparison>>();
    let bench = Bench { device: &device, stream: &stream, repetitions };
    let mut rows = Vec::new();
    bench.run::<i32>(numbers, &of_type(DType::I32), |c, outcomes| rows.push(Row::new(c, &outcomes, bytes)))?;
    bench.run::<I32x4>(numbers / 4, &of_type(DType::I32x4), |c, outcomes| rows.push(Row::new(c, &outcomes, bytes)))?;
    report.comparisons = rows;

    print(&table::report(&report));
    if let Some(path) = &options.output {
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
