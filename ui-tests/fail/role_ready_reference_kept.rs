//! On hardware the reference points into a stage that the producers refill.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_a_reference(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return 0 };
            let first = &tile[0];
            let _ = tile.release();
            *first
        })
        .run();
}

fn main() {}
