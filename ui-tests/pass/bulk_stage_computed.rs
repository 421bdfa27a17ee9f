//! The accepted neighbour of `fail/bulk_stage_computed.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_a_stage(
    block: Block<128>,
    input: Tiles<i32, 128>,
    shared: Shared<Partitioned<Stages<[i32; 128], 2, Bulk>>>,
) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.copy(input.tile(0)).commit();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
