//! Three warps are no warpgroup, which would run for itself.
#![forbid(unsafe_code)]
use tilepipe::role::{Apart, WarpRoles};
use tilepipe::{Block, kernel};

#[kernel]
fn misuse(block: Block<128>) {
    let _ = block.partition::<Apart<WarpRoles<32, 96>>>().role((), |_, (), ()| {}).role((), |_, (), ()| {}).run();
}

fn main() {}
