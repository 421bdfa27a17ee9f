//! Which kernels are measured over a range of sizes or shapes.

use anyhow::Result;
use tilepipe::I32x4;
use tilepipe_runner::value::DType::{self, F32, I32, I32x4 as Vector};
use tilepipe_runner::value::Value;

use crate::catalog::{Comparison, Peer};
use crate::measure::{Bench, Outcome};
use crate::pairings::{Pairing, peer};
use crate::peers::*;
use crate::record::{Line, Point, Sweep, Timing};
use crate::work::{TILE, Work};

/// Data of a sweep over anything but sizes, as a power of two of bytes: 256 MiB for each input and for the output, far more than any cache.
const BYTES_LOG2: u32 = 28;
/// Sizes, as powers of two of bytes.
const SIZES_LOG2: [u32; 8] = [16, 18, 20, 22, 24, 26, 28, 30];
/// Blocks where nothing else is said.
const GRID: u32 = 4096;
/// Two blocks for each of an H200's 132 multiprocessors: few resident warps, so that nothing but the pipeline hides the copies.
const TWO_EACH: u32 = 264;
/// The line of our kernel.
const OURS: &str = "tilepipe";

/// One place of a sweep: where it is, and what is measured there.
struct Place {
    x: f64,
    bytes_log2: u32,
    comparison: Comparison,
}

/// Measures all sweeps. Of those over sizes, sizes above `largest_log2` bytes are left out.
///
/// # Errors
///
/// An instance that is not among our kernels, and those of [`Bench::run`].
pub fn measure(bench: &Bench<'_>, largest_log2: u32) -> Result<Vec<Sweep>> {
    let largest = |bytes_log2: u32| bytes_log2.min(largest_log2);
    let mut sweeps = Vec::new();
    let mut sweep = |title: &str, axis: &str, unit: &str, places: Vec<Place>| -> Result<()> {
        sweeps.push(run(bench, [title, axis, unit], places)?);
        Ok(())
    };
    let unified = |dtype, stages: &'static str| Pairing {
        kernel: "with_staging_unified",
        dtype,
        generics: vec![("STAGES", stages)],
        grid: GRID,
        threads: THREADS,
        work: Work::NeighbourSum { tile: TILE },
        peers: Vec::new(),
    };
    let four = || {
        vec![
            peer("cuda::pipeline", PIPELINE_I32_4),
            peer("cp.async by hand", TWIN_I32_4),
            peer("no asynchronous copy", PLAIN_I32),
        ]
    };
    let bytes = largest(BYTES_LOG2);

    let mut places = Vec::new();
    for bytes_log2 in SIZES_LOG2.into_iter().filter(|size| *size <= largest_log2) {
        let pairing = Pairing { peers: four(), ..unified(I32, "4") };
        places.push(Place { x: f64::from(1_u32 << bytes_log2), bytes_log2, comparison: pairing.resolve()? });
    }
    sweep("with_staging_unified, i32, 4 stages, over the size", "size of the input", "bytes", places)?;

    for (dtype, name, hand) in [(I32, "i32", [TWIN_I32_2, TWIN_I32_4]), (Vector, "16 bytes", [TWIN_I32X4_2, TWIN_I32X4_4])] {
        let mut places = Vec::new();
        for stages in ["1", "2", "3", "4", "5", "6", "7", "8"] {
            let peers: Vec<Peer> = match (dtype, stages) {
                (I32, "1") => vec![peer("cuda::pipeline", PIPELINE_I32_1)],
                (I32, "2") => vec![peer("cuda::pipeline", PIPELINE_I32_2), peer("cp.async by hand", hand[0])],
                (I32, "4") => vec![peer("cuda::pipeline", PIPELINE_I32_4), peer("cp.async by hand", hand[1])],
                (_, "1") => vec![peer("cuda::pipeline", PIPELINE_I32X4_1)],
                (_, "2") => vec![peer("cuda::pipeline", PIPELINE_I32X4_2), peer("cp.async by hand", hand[0])],
                (_, "4") => vec![peer("cuda::pipeline", PIPELINE_I32X4_4), peer("cp.async by hand", hand[1])],
                _ => Vec::new(),
            };
            let comparison = Pairing { peers, ..unified(dtype, stages) }.resolve()?;
            places.push(Place { x: stages.parse()?, bytes_log2: bytes, comparison });
        }
        sweep(&format!("with_staging_unified, {name}, over the stages"), "stages", "", places)?;
    }

    let mut places = Vec::new();
    for threads in [128, 256, 512, 1024] {
        let work = Work::NeighbourSum { tile: threads as usize };
        let comparison = Pairing { threads, work, ..unified(I32, "4") }.resolve()?;
        places.push(Place { x: f64::from(threads), bytes_log2: bytes, comparison });
    }
    sweep("with_staging_unified, i32, 4 stages, over the block", "threads in a block", "", places)?;

    let mut places = Vec::new();
    for grid in [132, 264, 528, 1056, 2112, 4224, 16896] {
        let comparison = Pairing { grid, peers: four(), ..unified(I32, "4") }.resolve()?;
        places.push(Place { x: f64::from(grid), bytes_log2: bytes, comparison });
    }
    sweep("with_staging_unified, i32, 4 stages, over the grid", "blocks", "", places)?;

    let mut places = Vec::new();
    for (dtype, width) in [(DType::U8, 1), (DType::I16, 2), (I32, 4), (DType::F64, 8), (Vector, 16)] {
        let comparison = unified(dtype, "3").resolve()?;
        places.push(Place { x: f64::from(width), bytes_log2: bytes, comparison });
    }
    sweep("with_staging_unified, 3 stages, over the element", "size of an element", "bytes", places)?;

    let mut places = Vec::new();
    for (rounds, [plain, pipeline, hand]) in CHAINS {
        let pairing = |kernel, generics| Pairing {
            kernel,
            dtype: F32,
            generics,
            grid: TWO_EACH,
            threads: THREADS,
            work: Work::MultiplyAdds { rounds: rounds.parse().unwrap_or(0) },
            peers: Vec::new(),
        };
        let synchronous = pairing("multiply_adds_synchronous", vec![("ROUNDS", rounds)]).resolve()?;
        let peers = vec![
            peer("tilepipe, no asynchronous copy", *synchronous.ours),
            peer("C++, no asynchronous copy", plain),
            peer("cuda::pipeline", pipeline),
            peer("cp.async by hand", hand),
        ];
        let ours = pairing("multiply_adds", vec![("ROUNDS", rounds), ("STAGES", "4")]);
        let comparison = Pairing { peers, ..ours }.resolve()?;
        places.push(Place { x: rounds.parse()?, bytes_log2: bytes, comparison });
    }
    sweep(
        "multiply_adds, f32, two blocks a multiprocessor, over the arithmetic",
        "multiply-adds for each element",
        "",
        places,
    )?;
    Ok(sweeps)
}

/// Measures one sweep, whose places are of one element type or of several.
fn run(bench: &Bench<'_>, [title, axis, unit]: [&str; 3], places: Vec<Place>) -> Result<Sweep> {
    let mut lines: Vec<Line> = Vec::new();
    // Neighbours over the same data are measured in one go.
    for group in places.chunk_by(|one, other| {
        (one.bytes_log2, one.comparison.dtype) == (other.bytes_log2, other.comparison.dtype)
    }) {
        let bytes = 1_u64 << group[0].bytes_log2;
        let comparisons: Vec<&Comparison> = group.iter().map(|place| &place.comparison).collect();
        let mut places = group.iter();
        let mut done = |comparison: &Comparison, outcomes: Vec<Outcome>| {
            let Some(place) = places.next() else { return };
            let moved = bytes * (comparison.work.inputs() as u64 + 1);
            let names = std::iter::once(OURS).chain(comparison.peers.iter().map(|peer| peer.name));
            for (name, outcome) in names.zip(outcomes) {
                let timing = outcome.as_ref().ok().and_then(|one| Timing::of(&one.milliseconds, moved));
                let point = Point { x: place.x, timing, fault: outcome.err() };
                match lines.iter_mut().find(|line| line.name == name) {
                    Some(line) => line.points.push(point),
                    None => lines.push(Line { name: name.to_owned(), points: vec![point] }),
                }
            }
        };
        match group[0].comparison.dtype {
            DType::U8 => of_type::<u8>(bench, bytes, &comparisons, &mut done)?,
            DType::I16 => of_type::<i16>(bench, bytes, &comparisons, &mut done)?,
            DType::F32 => of_type::<f32>(bench, bytes, &comparisons, &mut done)?,
            DType::F64 => of_type::<f64>(bench, bytes, &comparisons, &mut done)?,
            DType::I32x4 => of_type::<I32x4>(bench, bytes, &comparisons, &mut done)?,
            _ => of_type::<i32>(bench, bytes, &comparisons, &mut done)?,
        }
    }
    Ok(Sweep { title: title.to_owned(), axis: axis.to_owned(), unit: unit.to_owned(), lines })
}

fn of_type<T: Value>(
    bench: &Bench<'_>,
    bytes: u64,
    comparisons: &[&Comparison],
    done: &mut impl FnMut(&Comparison, Vec<Outcome>),
) -> Result<()> {
    bench.run::<T>(bytes as usize / size_of::<T>(), comparisons, done)
}
