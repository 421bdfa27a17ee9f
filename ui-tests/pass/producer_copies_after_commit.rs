//! The accepted neighbour of `fail/producer_copies_after_commit.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn acquire_again(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let Ok(next) = stage.copy(input.tile(0)).commit().acquire() else { return };
            let _ = next.copy(input.tile(1)).commit();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
