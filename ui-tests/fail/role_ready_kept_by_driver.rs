//! On hardware the reference points into a stage that the producers refill.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_what_the_driver_lends(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let mut last = None;
            consumer.for_each(|tile, _| last = Some(tile));
        })
        .run();
}

fn main() {}
