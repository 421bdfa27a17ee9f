//! On hardware `cp.async` copies 4, 8 or 16 bytes, and CUDA silently copies such a tile
//! synchronously.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn copy_odd_bytes(block: Block<128>, shared: Shared<Partitioned<Stages<[u8; 129], 2>>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
