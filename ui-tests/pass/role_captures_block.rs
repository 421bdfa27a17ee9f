//! The accepted neighbour of `fail/role_captures_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_the_block_behind(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |group, _, ()| group.sync()).role((), |_, _, ()| {}).run();
    block.sync();
}

fn main() {}
