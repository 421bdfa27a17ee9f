//! On hardware the block's barrier counts the other role's threads, which never reach it.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_the_block_in_a_role(block: Block<128>) {
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| block.sync()).role((), |_, _, ()| {}).run();
}

fn main() {}
