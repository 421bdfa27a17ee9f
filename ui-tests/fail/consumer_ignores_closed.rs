//! On hardware nothing comes behind the last stage, and the consumers read the one before again.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn read_unasked(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let tile = consumer.wait();
            let _ = tile[0];
        })
        .run();
}

fn main() {}
