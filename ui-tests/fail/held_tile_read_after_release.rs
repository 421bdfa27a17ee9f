//! On hardware the stage may be filled again by then.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn misuse(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 3>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (end, one) = tile.hold();
            let _ = end.release(one);
            group.threads(|t| {
                let _ = one[t.rank()];
            });
        })
        .run();
}

fn main() {}
