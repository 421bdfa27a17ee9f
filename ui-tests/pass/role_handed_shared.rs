//! The accepted neighbour of `fail/role_handed_shared.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_it_at_block_level(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
    drop(shared);
}

fn main() {}
