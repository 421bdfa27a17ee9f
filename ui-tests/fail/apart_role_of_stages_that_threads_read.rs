//! A stage that one warpgroup has left would be passed as closed to the others' producers.
#![forbid(unsafe_code)]
use tilepipe::role::{Apart, Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn misuse(block: Block<384>, shared: Shared<Partitioned<Stages<[u32; 256], 2>>>) {
    let _ = block
        .partition::<Apart<WarpRoles<128, 256>>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
