//! The accepted neighbour of `fail/consumer_waits_in_loop.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn release_each(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, mut consumer, ()| {
            while let Ok(tile) = consumer.wait() {
                consumer = tile.release();
            }
        })
        .run();
}

fn main() {}
