//! On hardware some threads would make barriers that others use already.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn run_in_threads(block: Block<128>) {
    let roles = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {});
    block.threads(|_| {
        let _ = size_of_val(&roles);
    });
}

fn main() {}
