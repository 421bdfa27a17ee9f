//! The accepted neighbour of `fail/scratch_filled_by_a_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, PerThread, Scratch, Shared, kernel};

#[kernel]
fn ranks(block: Block<64>, shared: Shared<Scratch<[u32; 64]>>) {
    let mut scratch = shared.scratch(&block);
    let memory = scratch.fill(&block, |t, _| t.rank() as u32);
    let _ranks: PerThread<u32, 64> = block.map(|t| memory[63 - t.rank()]);
}

fn main() {}
