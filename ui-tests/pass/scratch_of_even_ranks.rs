//! The accepted neighbour of `fail/scratch_of_even_ranks.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, EvenOdd};
use tilepipe::{Block, Scratch, Shared, Stages, kernel};

type Memory = (Partitioned<Stages<[u32; 32], 2>>, Scratch<[u32; 32]>);

#[kernel]
fn in_even_ranks(block: Block<64>, shared: Shared<Memory>) {
    let (stages, memory) = shared.split();
    let _scratch = memory.scratch(&block);
    let roles = block.partition::<EvenOdd<32>>().pipeline(stages).role((), |_, _, ()| {});
    let _ = roles.role((), |_, _, ()| {}).run();
}

fn main() {}
