//! The accepted neighbour of `fail/held_tile_of_the_other_end.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn neighbour(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 3>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (end, one) = tile.hold();
            let consumer = end.release(one);
            let Ok(tile) = consumer.wait() else { return };
            let _ = tile.release();
        })
        .run();
}

fn main() {}
