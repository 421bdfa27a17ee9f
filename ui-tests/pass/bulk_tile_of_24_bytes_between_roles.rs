//! The accepted neighbour of `fail/bulk_tile_of_24_bytes_between_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_tile(block: Block<64>, input: Tiles<u8, 32>, shared: Shared<Partitioned<Stages<[u8; 32], 2, Bulk>>>) {
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.for_each(1, |stage, i| stage.copy(input.tile(i)));
        })
        .role((), |_, consumer, ()| {
            let _ = consumer.for_each(|_, _| ());
        })
        .run();
}

fn main() {}
