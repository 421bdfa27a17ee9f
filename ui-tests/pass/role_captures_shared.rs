//! The accepted neighbour of `fail/role_captures_shared.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn copy_at_block_level(block: Block<128>, shared: Shared<(Stages<[i32; 128], 1>, Stages<[i32; 128], 1>)>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
    let _ = shared.split();
}

fn main() {}
