//! Bulk copies beside `cp.async` in the same kernel with the same tiles, in blocks of few threads:
//! over arithmetic, tiles, stages and blocks.

use anyhow::Result;
use tilepipe_runner::value::DType::F32x4;

use super::{BYTES_LOG2, MULTIPROCESSORS, Place, Plan};
use crate::plan::blocks::Blocks;
use crate::plan::pairings::{Pairing, peer};

/// The kernel, whose lines [`super::OURS`] are those with bulk copies.
const KERNEL: &str = "multiply_adds_wide";
/// The line of the same kernel with `cp.async`.
const BY_THREADS: &str = "tilepipe, cp.async";
/// Threads of a block.
const THREADS: u32 = 128;
/// Bytes of an element, a vector of four numbers.
const ELEMENT: u32 = 16;
/// The tiles, in elements, that all sweeps but that over tiles have.
const TILES: [&str; 2] = ["256", "1024"];

/// One of its instances.
#[derive(Clone, Copy)]
struct Shape {
    /// Elements of a tile.
    len: &'static str,
    rounds: &'static str,
    stages: &'static str,
    /// Blocks for each multiprocessor.
    blocks: u32,
}

impl Shape {
    /// Puts it at a place of a sweep.
    fn at(self, x: f64, largest_log2: u32) -> Result<Place> {
        let of_engine = |engine| Pairing {
            kernel: KERNEL,
            dtype: F32x4,
            generics: vec![("E", engine), ("LEN", self.len), ("ROUNDS", self.rounds), ("STAGES", self.stages)],
            blocks: Blocks::Of(self.blocks * MULTIPROCESSORS),
            threads: THREADS,
            peers: Vec::new(),
        };
        let by_threads = of_engine("CpAsync").resolve()?;
        let peers = vec![peer(BY_THREADS, *by_threads.ours)];
        let comparison = Pairing { peers, ..of_engine("Bulk") }.resolve()?;
        Ok(Place { x, bytes_log2: BYTES_LOG2.min(largest_log2), comparison })
    }
}

/// All of them.
pub fn plans(largest_log2: u32) -> Result<Vec<Plan>> {
    let mut all = Vec::new();
    for len in TILES {
        for blocks in [1, 2] {
            all.push(over_arithmetic(len, blocks, largest_log2)?);
        }
        all.push(over_stages(len, largest_log2)?);
        all.push(over_blocks(len, largest_log2)?);
    }
    all.push(over_tiles(largest_log2)?);
    Ok(all)
}

/// Bytes of a tile, for people.
fn kibibytes(len: &str) -> Result<u32> {
    Ok(len.parse::<u32>()? * ELEMENT / 1024)
}

fn in_blocks(blocks: u32) -> String {
    format!("{blocks} block{} a multiprocessor", if blocks == 1 { "" } else { "s" })
}

fn over_arithmetic(len: &'static str, blocks: u32, largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for rounds in ["0", "8", "16", "32", "48", "64", "128", "256"] {
        let shape = Shape { len, rounds, stages: "4", blocks };
        places.push(shape.at(rounds.parse()?, largest_log2)?);
    }
    let title = format!("bulk copies, tiles of {} KiB, {}: arithmetic", kibibytes(len)?, in_blocks(blocks));
    // Another axis than that of the sweeps over arithmetic from which a balance follows.
    Ok(Plan { title, axis: "multiply-adds for each number", unit: "", places })
}

fn over_stages(len: &'static str, largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for stages in ["2", "3", "4", "6"] {
        let shape = Shape { len, rounds: "0", stages, blocks: 1 };
        places.push(shape.at(stages.parse()?, largest_log2)?);
    }
    let title = format!("bulk copies, tiles of {} KiB, {}: stages", kibibytes(len)?, in_blocks(1));
    Ok(Plan { title, axis: "stages", unit: "", places })
}

fn over_blocks(len: &'static str, largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for blocks in [1, 2, 3, 4, 6] {
        let shape = Shape { len, rounds: "0", stages: "2", blocks };
        places.push(shape.at(f64::from(blocks), largest_log2)?);
    }
    let title = format!("bulk copies, tiles of {} KiB, 2 stages: blocks", kibibytes(len)?);
    Ok(Plan { title, axis: "blocks a multiprocessor", unit: "", places })
}

fn over_tiles(largest_log2: u32) -> Result<Plan> {
    let mut places = Vec::new();
    for len in ["256", "512", "768", "1024"] {
        let shape = Shape { len, rounds: "0", stages: "4", blocks: 1 };
        places.push(shape.at(f64::from(kibibytes(len)?), largest_log2)?);
    }
    let title = format!("bulk copies, 4 stages, {}: tile", in_blocks(1));
    Ok(Plan { title, axis: "size of a tile", unit: "KiB", places })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_engines_have_the_same_shape_at_each_place() {
        for plan in plans(30).unwrap() {
            for Place { comparison, .. } in &plan.places {
                let [other] = &comparison.peers[..] else { panic!("{}", plan.title) };
                let (ours, others) = (comparison.ours.name(), other.instance.name());
                assert!(ours.contains("_Bulk_"), "{ours}");
                assert_eq!(ours.replace("Bulk", "CpAsync"), others);
            }
        }
    }

    #[test]
    fn a_title_says_what_does_not_vary() {
        let plans = plans(30).unwrap();
        let titles: Vec<&str> = plans.iter().map(|plan| plan.title.as_str()).collect();
        for title in [
            "bulk copies, tiles of 4 KiB, 1 block a multiprocessor: arithmetic",
            "bulk copies, tiles of 16 KiB, 2 blocks a multiprocessor: arithmetic",
            "bulk copies, tiles of 16 KiB, 2 stages: blocks",
            "bulk copies, 4 stages, 1 block a multiprocessor: tile",
        ] {
            assert!(titles.contains(&title), "{title} in {titles:?}");
        }
        let largest = plans.iter().flat_map(|plan| &plan.places).map(|place| place.bytes_log2).max();
        assert_eq!(largest, Some(BYTES_LOG2));
    }
}
