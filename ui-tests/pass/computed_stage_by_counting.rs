//! The accepted neighbour of `fail/computed_stage_by_counting.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Shared, Stages, kernel};

#[kernel]
fn count(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, LoadStore>>) {
    let mut counts = block.map(|_| 0);
    block.update(&mut counts, |_, count| *count += 1);
    let stage = shared.pipeline(&block).acquire();
    let (pipe, tile) = stage.fill(&block, |t, _| counts.get(&t)).commit().wait();
    let _ = pipe.release(tile);
}

fn main() {}
