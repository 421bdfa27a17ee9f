//! The accepted neighbour of `fail/consumer_timed_out_read.rs`.
#![forbid(unsafe_code)]
use core::time::Duration;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn read_the_tile(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            if let Ok(tile) = consumer.wait_for(Duration::ZERO) {
                let _ = tile[0];
            }
        })
        .run();
}

fn main() {}
