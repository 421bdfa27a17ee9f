//! Roles that share warps have no barrier: a thread would read what another one has not written.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, EvenOdd};
use tilepipe::{Block, Scratch, Shared, Stages, kernel};

type Memory = (Partitioned<Stages<[u32; 32], 2>>, Scratch<[u32; 32]>);

#[kernel]
fn in_even_ranks(block: Block<64>, shared: Shared<Memory>) {
    let (stages, memory) = shared.split();
    let roles = block.partition::<EvenOdd<32>>().pipeline(stages).role((), |_, _, ()| {});
    let _ = roles
        .role(memory, |group, _, memory| {
            let _scratch = memory.scratch(&group);
        })
        .run();
}

fn main() {}
