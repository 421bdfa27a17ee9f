//! The accepted neighbour of `fail/producer_driver_returns_another_stage.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_this_stage(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(2, |stage, i| stage.copy(input.tile(i)));
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
