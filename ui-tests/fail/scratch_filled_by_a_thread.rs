//! One thread at a time would take the block's barriers.
#![forbid(unsafe_code)]
use tilepipe::{Block, PerThread, Scratch, Shared, kernel};

#[kernel]
fn ranks(block: Block<64>, shared: Shared<Scratch<[u32; 64]>>) {
    let scratch = shared.scratch(&block);
    let _ranks: PerThread<u32, 64> = block.map(|t| {
        let _memory = &scratch;
        t.rank() as u32
    });
}

fn main() {}
