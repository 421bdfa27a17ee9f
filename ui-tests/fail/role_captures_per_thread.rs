//! On hardware thread 0 of the second role would read the value of thread 0 of the block: another
//! thread's register.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn read_the_blocks_values(block: Block<128>) {
    let ranks = block.map(|t| t.rank());
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| {
            let _ = size_of_val(&ranks);
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
