//! On hardware the consumers would wait for a stage that they hold, for ever.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn misuse(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (end, _one) = tile.hold();
            let Ok((end, _two)) = end.wait() else { return };
            let _ = end.wait();
        })
        .run();
}

fn main() {}
