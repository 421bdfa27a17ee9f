//! On hardware the first stage is never committed, and the consumers wait for it for ever.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn acquire_twice(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.acquire();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
