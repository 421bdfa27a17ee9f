//! `tilepipe-bench cpu`: the CPU executor beside plain loops that compute the same.

use std::fs;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use comfy_table::{Cell, Table};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tilepipe::cpu::Schedule;
use tilepipe::launch::Instance;
use tilepipe_host::{Bound, Device, launch};
use tilepipe_runner::data::{self, POISON};
use tilepipe_runner::reference;
use tilepipe_runner::stdout::print;
use tilepipe_runner::value::DType;

use crate::machine;
use crate::plan::blocks::Blocks;
use crate::plan::pairings::Pairing;
use crate::plan::peers;
use crate::record::Timing;
use crate::show::table::{headed, number};

/// Elements in a tile of the kernel, of which each thread computes one.
const TILE: usize = peers::THREADS as usize;
/// Tiles a block at least, so that its pipeline reaches its steady state.
const TILES_A_BLOCK: usize = 16;
/// The most blocks.
const MOST_BLOCKS: usize = 4096;

/// What is timed, and where the record goes.
#[derive(Args, Debug)]
pub struct Options {
    /// How many 4-byte numbers
    #[arg(long, value_name = "N", default_value_t = 1 << 24, value_parser = clap::value_parser!(u32).range(1..=1 << 30))]
    elements: u32,

    /// Timed runs of each
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(5..=1000))]
    repetitions: u32,

    /// Where to write the results as JSON
    #[arg(long, value_name = "FILE.json")]
    output: Option<PathBuf>,

    /// A build that was timed elsewhere, to put on record
    #[arg(long = "build", value_name = "NAME=SECONDS", value_parser = build)]
    builds: Vec<Build>,

    #[command(flatten)]
    origin: machine::Origin,
}

/// One run on a CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuReport {
    /// When it began, UTC.
    pub date: String,
    /// The commit that was measured.
    pub commit: String,
    /// The command that was typed.
    pub command: String,
    /// The CPU's model.
    pub cpu: String,
    /// Threads of the CPU.
    pub cores: usize,
    /// Numbers in the input and in the output.
    pub elements: usize,
    /// Timed runs of each.
    pub repetitions: usize,
    /// The executor first.
    pub rows: Vec<CpuRow>,
    /// Builds of the kernels.
    #[serde(default)]
    pub builds: Vec<Build>,
}

/// One way to compute it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CpuRow {
    /// What it is.
    pub name: String,
    /// Its time; none if any of its results is wrong.
    pub timing: Option<Timing>,
    /// What is wrong.
    pub fault: Option<String>,
}

/// How long a build took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Build {
    /// What was built, and from what.
    pub name: String,
    /// Seconds.
    pub seconds: f64,
}

/// Times everything, and returns what is wrong.
///
/// # Errors
///
/// Too little memory, or a record that cannot be written.
pub fn run(options: &Options) -> Result<Vec<String>> {
    let (elements, repetitions) = (options.elements as usize, options.repetitions as usize);
    let report = CpuReport {
        date: machine::now(),
        commit: options.origin.commit.clone(),
        command: options.origin.command(),
        cpu: machine::cpu(),
        cores: machine::cores(),
        elements,
        repetitions,
        rows: measure(elements, repetitions)?,
        builds: options.builds.clone(),
    };
    let CpuReport { cpu, cores, .. } = &report;
    if let Some(path) = &options.output {
        let json = serde_json::to_string_pretty(&report)? + "\n";
        fs::write(path, json).with_context(|| format!("cannot write {}", path.display()))?;
    }
    print(format_args!(
        "{cpu}, {cores} threads: {elements} elements of 4 bytes, medians of {repetitions}\n{}",
        table(&report)
    ))?;
    let wrong = |row: &CpuRow| row.fault.as_ref().map(|fault| format!("{} is wrong: {fault}", row.name));
    Ok(report.rows.iter().filter_map(wrong).collect())
}

fn build(text: &str) -> Result<Build, String> {
    let (name, seconds) = text.rsplit_once('=').ok_or("a build is NAME=SECONDS")?;
    match seconds.parse() {
        Ok(seconds) if f64::is_finite(seconds) => Ok(Build { name: name.to_owned(), seconds }),
        _ => Err(format!("`{seconds}` is no number of seconds")),
    }
}

/// Computes an output from an input, and returns the milliseconds that this took.
type Contestant<'a> = Box<dyn FnMut(&mut [i32]) -> Result<f64> + 'a>;

fn measure(elements: usize, repetitions: usize) -> Result<Vec<CpuRow>> {
    let input: Vec<i32> = data::generate(elements, data::DEFAULT_SEED).map_err(anyhow::Error::msg)?;
    let mut contestants: [(&str, Contestant<'_>); 3] = [
        ("CPU executor, with_staging_unified, 4 stages", executor(&input)?),
        ("loop on one thread", Box::new(|out| Ok(timed(|| by_tiles(&input, out))))),
        ("rayon over tiles", Box::new(|out| Ok(timed(|| by_tiles_in_parallel(&input, out))))),
    ];
    time(&mut contestants, &input, repetitions)
}

/// Times contestants in turns, after a first round that does not count; every output is poisoned
/// before and compared after.
fn time(contestants: &mut [(&str, Contestant<'_>)], input: &[i32], repetitions: usize) -> Result<Vec<CpuRow>> {
    let expected = reference::neighbour_sum(input, TILE);
    let mut out = vec![0; input.len()];
    let mut outcomes: Vec<Result<Vec<f64>, String>> = vec![Ok(Vec::new()); contestants.len()];
    for round in 0..=repetitions {
        for ((_, contestant), outcome) in contestants.iter_mut().zip(&mut outcomes) {
            let Ok(milliseconds) = outcome else { continue };
            out.fill(i32::from_ne_bytes([POISON; 4]));
            let time = contestant(&mut out)?;
            match reference::compare(&out, &expected) {
                Some(difference) => *outcome = Err(difference.to_string()),
                None if round > 0 => milliseconds.push(time),
                None => {}
            }
        }
    }
    let bytes = 2 * size_of_val(input) as u64;
    let row = |(name, outcome): (&str, Result<Vec<f64>, String>)| CpuRow {
        name: name.to_owned(),
        timing: outcome.as_ref().ok().and_then(|milliseconds| Timing::of(milliseconds, bytes)),
        fault: outcome.err(),
    };
    Ok(contestants.iter().map(|(name, _)| *name).zip(outcomes).map(row).collect())
}

/// The kernel on the CPU executor. Its launch is timed, and not the copies to and from its buffers.
fn executor(input: &[i32]) -> Result<Contestant<'static>> {
    let instance = kernel()?;
    let device = Device::cpu(Schedule::Lazy);
    let stream = device.stream()?;
    let source = device.upload(input)?;
    let grid = input.len().div_ceil(TILE).div_ceil(TILES_A_BLOCK).clamp(1, MOST_BLOCKS) as u32;
    Ok(Box::new(move |out| {
        let mut target = device.filled_with_byte(out.len(), POISON)?;
        let start = Instant::now();
        launch(&stream, grid, instance, [Bound::input(&source), Bound::output(&mut target)])?;
        stream.synchronize()?;
        let milliseconds = start.elapsed().as_secs_f64() * 1e3;
        target.read(out)?;
        Ok(milliseconds)
    }))
}

fn kernel() -> Result<&'static Instance> {
    let pairing = Pairing {
        kernel: "with_staging_unified",
        dtype: DType::I32,
        generics: vec![("STAGES", "4")],
        blocks: Blocks::Of(1),
        threads: peers::THREADS,
        peers: Vec::new(),
    };
    Ok(pairing.resolve()?.ours)
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64() * 1e3
}

fn by_tiles(input: &[i32], out: &mut [i32]) {
    out.chunks_mut(TILE).zip(input.chunks(TILE)).for_each(|(out, tile)| one_tile(tile, out));
    black_box(out);
}

fn by_tiles_in_parallel(input: &[i32], out: &mut [i32]) {
    out.par_chunks_mut(TILE).zip(input.par_chunks(TILE)).for_each(|(out, tile)| one_tile(tile, out));
    black_box(out);
}

/// Three times each element and its right neighbour; the last of a whole tile has the first, that
/// of a part has none.
fn one_tile(tile: &[i32], out: &mut [i32]) {
    let last = if tile.len() == TILE { tile[0] } else { 0 };
    let next = tile.iter().skip(1).chain(std::iter::once(&last));
    for ((result, own), next) in out.iter_mut().zip(tile).zip(next) {
        *result = own.wrapping_mul(3).wrapping_add(*next);
    }
}

fn table(report: &CpuReport) -> Table {
    let mut table = headed(["", "ms", "spread", "GB/s"]);
    for row in &report.rows {
        let mut cells = vec![Cell::new(&row.name)];
        match &row.timing {
            Some(Timing { milliseconds, gigabytes_per_second }) => cells.extend([
                number(format!("{:.3}", milliseconds.median)),
                number(format!("{:.1} %", milliseconds.spread_percent())),
                number(format!("{gigabytes_per_second:.2}")),
            ]),
            None => cells.push(Cell::new("WRONG")),
        }
        table.add_row(cells);
    }
    for build in &report.builds {
        table.add_row([Cell::new(&build.name), number(format!("{:.0}", build.seconds * 1e3))]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executor_and_both_loops_compute_the_same_at_any_length() {
        for elements in [1, TILE - 1, TILE, TILE + 1, 20_011] {
            let rows = measure(elements, 5).unwrap();
            assert_eq!(rows.len(), 3);
            assert!(rows.iter().all(|row| row.fault.is_none()), "{elements}: {rows:?}");
        }
    }

    #[test]
    fn a_wrong_result_has_no_time() {
        let input: Vec<i32> = (0..1000).collect();
        let mut calls = 0;
        let mut contestants: [(&str, Contestant<'_>); 2] = [
            (
                "right",
                Box::new(|out| {
                    by_tiles(&input, out);
                    Ok(2.0)
                }),
            ),
            // Only the last run misses an element.
            (
                "wrong",
                Box::new(|out| {
                    calls += 1;
                    by_tiles(&input[..1000 - calls / 6], &mut out[..1000 - calls / 6]);
                    Ok(1.0)
                }),
            ),
        ];
        let rows = time(&mut contestants, &input, 5).unwrap();
        assert_eq!(rows[0].timing.as_ref().unwrap().milliseconds.median, 2.0);
        assert!(rows[1].timing.is_none() && rows[1].fault.as_ref().unwrap().contains("element 998"), "{rows:?}");
        let builds = vec![build("warm build=0.25").unwrap()];
        let report = CpuReport {
            date: String::new(),
            commit: String::new(),
            command: String::new(),
            cpu: "a CPU".to_owned(),
            cores: 2,
            elements: 1000,
            repetitions: 5,
            rows,
            builds,
        };
        let text = table(&report).to_string();
        assert!(text.contains("WRONG") && text.contains("warm build") && text.contains("250"), "{text}");
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<CpuReport>(&json).unwrap(), report);
    }

    #[test]
    fn builds_have_a_name_and_seconds() {
        assert_eq!(build("cold=a=12.5").unwrap(), Build { name: "cold=a".to_owned(), seconds: 12.5 });
        for text in ["cold", "cold=", "cold=x", "cold=inf"] {
            assert!(build(text).is_err(), "{text}");
        }
    }
}
