//! `tilepipe-bench measure`: times every kernel beside its peers on one GPU.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use tilepipe::I32x4;
use tilepipe_host::Device;
use tilepipe_runner::stdout::print;
use tilepipe_runner::value::DType;
use tilepipe_runner::{built, data};

use crate::machine::{conditions::Watch, versions};
use crate::measure::{Bench, Outcome};
use crate::plan::catalog::{self, Comparison};
use crate::plan::{bulk::engines, sweeps};
use crate::record::costs::Costs;
use crate::record::{Process, Report, Row, Timing};
use crate::show::table;
use crate::{ceilings, copy, machine, resources, small};

/// The GPU that is measured, by its number.
const GPU: u32 = 0;

/// What is measured, and where the record goes.
#[derive(Args, Debug)]
pub struct Options {
    /// The folder with our kernels' PTX and cubins
    #[arg(long, value_name = "DIR")]
    module: PathBuf,

    /// The folder with the peers' PTX and cubin, which `peers/build.sh` makes
    #[arg(long, value_name = "DIR")]
    peers: PathBuf,

    /// The folder with the PTX and cubins of our kernels' twins in unsafe Rust; without it they are
    /// left out
    #[arg(long, value_name = "DIR")]
    twins: Option<PathBuf>,

    /// The library with CUB's work, which `peers/build.sh` makes; without it that is left out
    #[arg(long, value_name = "FILE.so")]
    ceilings: Option<PathBuf>,

    /// Measure the candidates of peers/shapes.cu, from which the fastest C++ of any shape comes,
    /// and nothing else
    #[arg(long)]
    shapes: bool,

    /// Measure small sizes in graphs, and nothing else
    #[arg(long, conflicts_with_all = ["shapes", "no_sweeps", "kernel"])]
    sizes: bool,

    /// Measure which engine is the fastest over sizes of a tile, stages and blocks, and what the
    /// fence of reading threads costs, and nothing else
    #[arg(long, conflicts_with_all = ["shapes", "sizes", "kernel"])]
    engines: bool,

    /// Measure further shapes of our kernels at small sizes, from which the fastest may come
    #[arg(long, requires = "sizes")]
    candidates: bool,

    /// Leave out the measurements over sizes, stages, blocks, grids, elements and arithmetic, and
    /// with `--engines` those over tiles
    #[arg(long)]
    no_sweeps: bool,

    /// How much data, as a power of two of 4-byte numbers: 28 is 1 GiB for each input and for the
    /// output
    #[arg(long, value_name = "N", default_value_t = 28, value_parser = clap::value_parser!(u32).range(10..=32))]
    elements_log2: u32,

    /// Only kernels whose name contains this, or one of several, with commas between them
    #[arg(long, value_name = "TEXT", value_delimiter = ',')]
    kernel: Vec<String>,

    /// Timed launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,

    /// What the order of the launches is drawn from [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

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
    let mut comparisons = match (options.shapes, options.engines) {
        (true, _) => catalog::candidates()?,
        (_, true) => catalog::fences()?,
        _ => catalog::comparisons()?,
    };
    let is_named = |kernel: &str| options.kernel.is_empty() || options.kernel.iter().any(|text| kernel.contains(text));
    comparisons.retain(|comparison| !options.sizes && is_named(comparison.ours.kernel()));
    let date = machine::now();
    let device = Device::gpu(GPU).context("the comparison runs on a GPU")?;
    device.load(&built::read(&options.module)?)?;
    device.load(&built::read(&options.peers)?)?;
    if let Some(twins) = &options.twins {
        device.load(&built::read(twins)?)?;
        comparisons = comparisons.into_iter().map(Comparison::with_unsafe_twin).collect();
    }
    let stream = device.stream()?;
    let repetitions = options.repetitions as usize;
    let seed = options.seed.unwrap_or_else(machine::seed);
    let numbers = 1_usize << options.elements_log2;
    let bytes = 4 * numbers as u64;

    let watch = Watch::start(GPU);
    let copy = copied(&device, numbers, repetitions)?;
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
        copy: Timing::of(&copy, 2 * bytes),
        comparisons: Vec::new(),
        sweeps: Vec::new(),
        sizes: Vec::new(),
        processes: Vec::new(),
        costs: Costs::default(),
    };
    let of_type = |dtype| comparisons.iter().filter(|c| c.dtype == dtype).collect::<Vec<&Comparison>>();
    let bench = Bench { device: &device, stream: &stream, repetitions, seed };
    let mut rows = Vec::new();
    let mut push = |comparison: &Comparison, grids: &[u32], outcomes: Vec<Outcome>| {
        let mut row = Row::new(comparison, grids, &outcomes, bytes);
        resources::fill(&mut row, &device, comparison);
        rows.push(row);
    };
    bench.run::<i32>(numbers, &of_type(DType::I32), &mut push)?;
    bench.run::<I32x4>(numbers / 4, &of_type(DType::I32x4), &mut push)?;
    bench.run::<u8>(4 * numbers, &of_type(DType::U8), &mut push)?;
    bench.run::<f32>(numbers, &of_type(DType::F32), &mut push)?;
    bench.run::<u32>(numbers, &of_type(DType::U32), &mut push)?;
    let is_comparison = !options.shapes && !options.engines;
    let is_whole = is_comparison && options.kernel.is_empty();
    let library = options.ceilings.as_deref();
    if let Some(library) = library.filter(|_| is_comparison && !options.sizes) {
        rows.extend(ceilings::measure(&bench, library, numbers, is_named)?);
    }
    report.comparisons = rows;
    let largest_log2 = options.elements_log2 + 2;
    if is_whole && !options.no_sweeps {
        report.sizes = small::measure(&bench, library, largest_log2, options.candidates)?;
    }
    if is_whole && !options.no_sweeps && !options.sizes {
        report.sweeps = sweeps::measure(&bench, largest_log2)?;
    }
    if options.engines && !options.no_sweeps {
        report.sweeps = engines::measure(&bench, numbers)?;
    }

    report.processes.push(Process {
        date: report.date.clone(),
        commit: report.commit.clone(),
        command: report.command.clone(),
        seed,
        conditions: watch.and_then(Watch::finish),
        versions: versions::read(&options.module, &options.peers),
        copy,
    });
    if let Some(path) = &options.output {
        report.write(path)?;
    }
    print(table::report(&report))?;
    Ok(report.failures())
}

/// Times the driver's own copy of `numbers` random 4-byte numbers.
fn copied(device: &Device, numbers: usize, repetitions: usize) -> Result<Vec<f64>> {
    let data: Vec<i32> = data::generate(numbers, data::DEFAULT_SEED).map_err(anyhow::Error::msg)?;
    copy::time(device, bytemuck::cast_slice(&data), repetitions)
}
