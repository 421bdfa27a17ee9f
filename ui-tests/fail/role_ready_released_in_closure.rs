//! On hardware some threads of a warp arrive for it while others still read the tile.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn release_in_threads(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            group.threads(move |_| drop(tile.release()));
        })
        .run();
}

fn main() {}
