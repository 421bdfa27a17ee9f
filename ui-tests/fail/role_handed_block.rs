//! On hardware the block's barrier counts the other role's threads, which never reach it.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn hand_over_the_block(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role(block, |_, _, block: Block<'_, 128>| block.sync())
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
