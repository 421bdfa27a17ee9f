//! A tile is given back by the end that waited for it: this one has none.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn misuse(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 3>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (end, one) = tile.hold();
            let consumer = end.release(one);
            let Ok(tile) = consumer.wait() else { return };
            let _ = tile.release(one);
        })
        .run();
}

fn main() {}
