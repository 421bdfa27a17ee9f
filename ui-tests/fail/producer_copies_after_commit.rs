//! On hardware the copy joins no stage, and the consumers read it while it lands.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_late(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.copy(input.tile(0)).commit().copy(input.tile(1));
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
