//! On hardware the stage was committed empty, and what is read is a lap old.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Optional, Shared, Stages, kernel};

#[kernel]
fn read_unasked(block: Block<128>, shared: Shared<Partitioned<Stages<Optional<[i32; 128]>, 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let _ = tile.tiles()[0];
        })
        .run();
}

fn main() {}
