//! On hardware the copy lands in a stage that the consumers may still be reading.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_at_once(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.copy(input.tile(0));
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
