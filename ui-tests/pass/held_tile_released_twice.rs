//! The accepted neighbour of `fail/held_tile_released_twice.rs`.
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
            let Ok((end, two)) = end.wait() else { return };
            let _ = end.release(one).release(two);
        })
        .run();
}

fn main() {}
