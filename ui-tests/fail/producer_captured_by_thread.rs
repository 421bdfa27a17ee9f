//! On hardware some threads of the role would acquire and others not, and the stage would never be
//! full.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn step_in_threads(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |group, producer, ()| {
            group.threads(|_| {
                let _ = size_of_val(&producer);
            })
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
