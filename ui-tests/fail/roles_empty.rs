//! On hardware a barrier that waits for no thread at all is undefined.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn nobody_produces(block: Block<128>) {
    let _ = block.partition::<WarpRoles<0, 128>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
