//! The accepted neighbour of `fail/partitioned_tile_of_odd_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, LoadStore, Shared, Stages, kernel};

#[kernel]
fn store_odd_bytes(block: Block<128>, shared: Shared<Partitioned<Stages<[u8; 129], 2, LoadStore>>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
