//! The accepted neighbour of `fail/role_optional_read_unchecked.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Optional, Shared, Stages, kernel};

#[kernel]
fn ask_first(block: Block<128>, shared: Shared<Partitioned<Stages<Optional<[i32; 128]>, 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let _ = tile.get().map(|tile| tile[0]);
        })
        .run();
}

fn main() {}
