//! On hardware the consumers read what the stage held a lap ago.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn commit_unfilled(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.commit();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
