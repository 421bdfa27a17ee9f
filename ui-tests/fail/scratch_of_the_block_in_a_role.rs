//! Both roles would fill the tile at once, each behind barriers of its own.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Scratch, Shared, Stages, kernel};

type Memory = (Partitioned<Stages<[u32; 32], 2>>, Scratch<[u32; 32]>);

#[kernel]
fn in_a_role(block: Block<64>, shared: Shared<Memory>) {
    let (stages, memory) = shared.split();
    let scratch = memory.scratch(&block);
    let roles = block.partition::<WarpRoles<32, 32>>().pipeline(stages).role((), |_, _, ()| {});
    let _ = roles
        .role((), |_, _, ()| {
            let _memory = &scratch;
        })
        .run();
}

fn main() {}
