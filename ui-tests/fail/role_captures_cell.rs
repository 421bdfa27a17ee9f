//! On hardware each thread has its own copy, and one that differs could steer the block around a
//! barrier.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn write_a_cell(block: Block<128>) {
    let flag = Cell::new(false);
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| flag.set(true)).role((), |_, _, ()| {}).run();
    if flag.get() {
        block.sync();
    }
}

fn main() {}
