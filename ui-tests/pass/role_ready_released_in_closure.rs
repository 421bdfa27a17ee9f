//! The accepted neighbour of `fail/role_ready_released_in_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn release_at_role_level(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            group.threads(|t| {
                let _ = tile[t.rank()];
            });
            let _ = tile.release();
        })
        .run();
}

fn main() {}
