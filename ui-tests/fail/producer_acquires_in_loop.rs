//! On hardware the consumers wait for ever for the stages that were acquired and never committed.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn acquire_only(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            for _ in 0..4 {
                let _ = producer.acquire();
            }
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
