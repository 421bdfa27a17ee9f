//! The accepted neighbour of `fail/held_tile_read_after_release.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn neighbour(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 3>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (end, one) = tile.hold();
            group.threads(|t| {
                let _ = one[t.rank()];
            });
            let _ = end.release(one);
        })
        .run();
}

fn main() {}
