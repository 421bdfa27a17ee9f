//! The accepted neighbour of `fail/producer_acquires_in_loop.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn commit_each(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, mut producer, ()| {
            for i in 0..4 {
                let Ok(stage) = producer.acquire() else { return };
                producer = stage.copy(input.tile(i)).commit();
            }
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
