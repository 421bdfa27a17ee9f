//! Which kernels are measured over a range of shapes. Small sizes are [`super::small`]'s.

mod engines;

use anyhow::Result;
use tilepipe::launch::Instance;
use tilepipe::{F32x4, I32x4};
use tilepipe_runner::value::DType::{self, F32, I32, I32x4 as Vector};
use tilepipe_runner::value::Value;

use crate::measure::{Bench, Outcome};
use crate::plan::blocks::Blocks;
use crate::plan::catalog::{Comparison, Peer};
use crate::plan::pairings::{Pairing, peer, pipeline};
use crate::plan::peers::*;
use crate::record::{Line, Point, Sweep};

/// Data of a sweep, as a power of two of bytes: 256 MiB for each input and
/// for the output, far more than any cache.
const BYTES_LOG2: u32 = 28;
/// Blocks where nothing else is said.
const GRID: Blocks = Blocks::Of(4096);
/// Multiprocessors of an H100 and of an H200.
const MULTIPROCESSORS: u32 = 132;

/// What sweeps over arithmetic vary.
pub const MULTIPLY_ADDS: &str = "multiply-adds for each element";
/// The line of our kernel.
pub const OURS: &str = "tilepipe";
/// The line of our kernel with a copy through registers.
pub const SYNCHRONOUS: &str = "tilepipe, no asynchronous copy";
/// The line of the kernel with `cp.async` by hand.
pub const BY_HAND: &str = "cp.async by hand";

/// One place of a sweep: where it is, and what is measured there.
struct Place {
    x: f64,
    bytes_log2: u32,
    comparison: Comparison,
}

/// One quantity that varies.
struct Plan {
    title: String,
    axis: &'static str,
    unit: &'static str,
    places: Vec<Place>,
}

/// Measures all sweeps. None has data of more than `2^largest_log2` bytes.
///
/// # Errors
///
/// An instance that is not among our kernels, and those of [`Bench::run`].
pub fn measure(bench: &Bench<'_>, largest_log2: u32) -> Result<Vec<Sweep>> {
    plans(largest_log2)?.into_iter().map(|plan| run(bench, plan)).collect()
}

/// All of them.
fn plans(largest_log2: u32) -> Result<Vec<Plan>> {
    let mut plans = vec![
        over_stages(I32, largest_log2)?,
        over_stages(Vector, largest_log2)?,
        over_blocks(largest_log2)?,
        over_grids(largest_log2)?,
        over_elements(largest_log2)?,
        over_arithmetic(1, largest_log2)?,
        over_arithmetic(2, largest_log2)?,
    ];
    plans.extend(engines::plans(largest_log2)?);
    Ok(plans)
}

/// `with_staging_unified`, beside nothing yet.
fn unified(dtype: DType, stages: &'static str) -> Pairing {
    Pairing {
        kernel: "with_staging_unified",
        dtype,
        generics: vec![("STAGES", stages)],
        blocks: GRID,
        threads: THREADS,
        peers: Vec::new(),
    }
}

/// Peers of `with_staging_unified` with `i32` and 4 stages.
fn of_four_stages() -> Vec<Peer> {
    vec![pipeline(PIPELINE_I32_4), by_hand(TWIN_I32_4), peer("C++, no asynchronous copy", PLAIN_I32)]
}

fn by_hand(instance: Instance) -> Peer {
    peer(BY_HAND, instance)
}

fn over_stages(dtype: DType, largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for stages in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        let peers = match (dtype, stages) {
            (I32, "1") => vec![pipeline(PIPELINE_I32_1)],
            (I32, _) => {
                let of_these = UNIFIED_I32.into_iter().filter(|(number, _)| *number == stages);
                of_these.flat_map(|(_, [of_cuda, hand, _])| [pipeline(of_cuda), by_hand(hand)]).collect()
            }
            (_, "1") => vec![pipeline(PIPELINE_I32X4_1)],
            (_, "2") => vec![pipeline(PIPELINE_I32X4_2), by_hand(TWIN_I32X4_2)],
            (_, "4") => vec![pipeline(PIPELINE_I32X4_4), by_hand(TWIN_I32X4_4)],
            _ => Vec::new(),
        };
        let comparison = Pairing { peers, ..unified(dtype, stages) }.resolve()?;
        places.push(Place { x: stages.parse()?, bytes_log2: BYTES_LOG2.min(largest_log2), comparison });
    }
    let title = format!("with_staging_unified, {dtype}: stages");
    Ok(Plan { title, axis: "stages", unit: "", places })
}

fn over_blocks(largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for threads in [128, 256, 512, 1024] {
        let comparison = Pairing { threads, ..unified(I32, "4") }.resolve()?;
        places.push(Place { x: f64::from(threads), bytes_log2: BYTES_LOG2.min(largest_log2), comparison });
    }
    let title = "with_staging_unified, i32, 4 stages: block".to_owned();
    Ok(Plan { title, axis: "threads in a block", unit: "", places })
}

fn over_grids(largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for grid in [132, 264, 528, 1056, 2112, 4224, 16896] {
        let comparison =
            Pairing { blocks: Blocks::Of(grid), peers: of_four_stages(), ..unified(I32, "4") }.resolve()?;
        places.push(Place { x: f64::from(grid), bytes_log2: BYTES_LOG2.min(largest_log2), comparison });
    }
    let title = "with_staging_unified, i32, 4 stages: grid".to_owned();
    Ok(Plan { title, axis: "blocks", unit: "", places })
}

fn over_elements(largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for (dtype, width) in [(DType::U8, 1), (DType::I16, 2), (I32, 4), (DType::F64, 8), (Vector, 16)] {
        let comparison = unified(dtype, "3").resolve()?;
        places.push(Place { x: f64::from(width), bytes_log2: BYTES_LOG2.min(largest_log2), comparison });
    }
    let title = "with_staging_unified, 3 stages: element".to_owned();
    Ok(Plan { title, axis: "size of an element", unit: "bytes", places })
}

/// The kernels with a tunable amount of arithmetic, with `blocks` blocks for each multiprocessor:
/// so few that hardly anything but the pipeline hides the copies.
fn over_arithmetic(blocks: u32, largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for (rounds, [plain, of_libcu, hand]) in CHAINS {
        let grid = Blocks::Of(blocks * MULTIPROCESSORS);
        let pairing = |kernel, generics| Pairing {
            kernel,
            dtype: F32,
            generics,
            blocks: grid,
            threads: THREADS,
            peers: Vec::new(),
        };
        let synchronous = pairing("multiply_adds_synchronous", vec![("ROUNDS", rounds)]).resolve()?;
        let peers = vec![
            peer(SYNCHRONOUS, *synchronous.ours),
            peer("C++, no asynchronous copy", plain),
            pipeline(of_libcu),
            by_hand(hand),
        ];
        let ours = pairing("multiply_adds", vec![("ROUNDS", rounds), ("STAGES", "4")]);
        let comparison = Pairing { peers, ..ours }.resolve()?;
        places.push(Place { x: rounds.parse()?, bytes_log2: BYTES_LOG2.min(largest_log2), comparison });
    }
    let plural = if blocks == 1 { "" } else { "s" };
    let title = format!("multiply_adds, f32, {blocks} block{plural} a multiprocessor: arithmetic");
    Ok(Plan { title, axis: MULTIPLY_ADDS, unit: "", places })
}

/// Our kernels that are measured, some of them several times.
#[cfg(test)]
pub fn kernels() -> Vec<&'static str> {
    let places = plans(30).unwrap().into_iter().flat_map(|plan| plan.places);
    let of_place = |Place { comparison, .. }: Place| {
        let peers = comparison.peers.into_iter().map(|peer| peer.instance.kernel());
        std::iter::once(comparison.ours.kernel()).chain(peers).collect::<Vec<_>>()
    };
    places.flat_map(of_place).filter(|name| tilepipe_kernel_registry::NAMES.contains(name)).collect()
}

/// Measures one sweep, whose places are of one element type or of several.
fn run(bench: &Bench<'_>, plan: Plan) -> Result<Sweep> {
    let Plan { title, axis, unit, places } = plan;
    let mut lines: Vec<Line> = Vec::new();
    // Neighbours over the same data are measured in one go.
    for group in places
        .chunk_by(|one, other| (one.bytes_log2, one.comparison.dtype) == (other.bytes_log2, other.comparison.dtype))
    {
        let bytes = 1_u64 << group[0].bytes_log2;
        let comparisons: Vec<&Comparison> = group.iter().map(|place| &place.comparison).collect();
        let mut places = group.iter();
        let mut done = |comparison: &Comparison, _: &[u32], outcomes: Vec<Outcome>| {
            let Some(place) = places.next() else { return };
            let moved = bytes * (comparison.work.kind.inputs() as u64 + 1);
            let names = std::iter::once(OURS).chain(comparison.peers.iter().map(|peer| peer.name));
            for (name, outcome) in names.zip(outcomes) {
                let point = Point::new(place.x, &outcome, moved);
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
            DType::F32x4 => of_type::<F32x4>(bench, bytes, &comparisons, &mut done)?,
            _ => of_type::<i32>(bench, bytes, &comparisons, &mut done)?,
        }
    }
    Ok(Sweep { title, axis: axis.to_owned(), unit: unit.to_owned(), lines })
}

fn of_type<T: Value>(
    bench: &Bench<'_>,
    bytes: u64,
    comparisons: &[&Comparison],
    done: &mut impl FnMut(&Comparison, &[u32], Vec<Outcome>),
) -> Result<()> {
    bench.run::<T>(bytes as usize / size_of::<T>(), comparisons, done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sweep_has_places_by_rising_x_whose_kernels_exist() {
        let plans = plans(30).unwrap();
        assert_eq!(plans.len(), 7 + 9);
        for plan in &plans {
            assert!(plan.places.len() >= 4, "{}", plan.title);
            assert!(plan.places.is_sorted_by(|one, other| one.x < other.x), "{}", plan.title);
            assert!(plan.places.iter().all(|place| place.bytes_log2 <= 30));
        }
    }

    #[test]
    fn sweeps_over_arithmetic_differ_in_their_grid_and_have_the_lines_of_a_balance() {
        let mut plans = plans(30).unwrap();
        plans.retain(|plan| plan.axis == MULTIPLY_ADDS);
        let titles: Vec<&str> = plans.iter().map(|plan| plan.title.as_str()).collect();
        let title = |blocks| format!("multiply_adds, f32, {blocks} a multiprocessor: arithmetic");
        assert_eq!(titles, [title("1 block"), title("2 blocks")]);
        for (plan, grid) in plans.iter().zip([132, 264]) {
            let rounds: Vec<f64> = plan.places.iter().map(|place| place.x).collect();
            assert_eq!(rounds, [0.0, 8.0, 16.0, 32.0, 48.0, 64.0, 128.0, 256.0]);
            for Place { comparison, x, .. } in &plan.places {
                let peers: Vec<&str> = comparison.peers.iter().map(|peer| peer.name).collect();
                assert!(peers.contains(&SYNCHRONOUS) && peers.contains(&BY_HAND), "{peers:?}");
                assert_eq!((comparison.blocks, comparison.work.rounds), (Blocks::Of(grid), *x as usize));
            }
        }
    }

    #[test]
    fn no_data_is_larger_than_asked_for() {
        let places: Vec<Place> = plans(20).unwrap().into_iter().flat_map(|plan| plan.places).collect();
        assert!(places.iter().all(|place| place.bytes_log2 <= 20));
    }
}
