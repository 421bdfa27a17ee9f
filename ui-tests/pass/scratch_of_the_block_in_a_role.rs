//! The accepted neighbour of `fail/scratch_of_the_block_in_a_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Scratch, Shared, Stages, kernel};

type Memory = (Partitioned<Stages<[u32; 32], 2>>, Scratch<[u32; 32]>);

#[kernel]
fn in_a_role(block: Block<64>, shared: Shared<Memory>) {
    let (stages, memory) = shared.split();
    let roles = block.partition::<WarpRoles<32, 32>>().pipeline(stages).role((), |_, _, ()| {});
    let _ = roles
        .role(memory, |group, _, memory| {
            let mut scratch = memory.scratch(&group);
            let _tile = scratch.fill(&group, |t, _| t.rank() as u32);
        })
        .run();
}

fn main() {}
