//! The accepted neighbour of `fail/apart_role_of_96_threads.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Apart, WarpRoles};
use tilepipe::{Block, kernel};

#[kernel]
fn neighbour(block: Block<256>) {
    let _ = block.partition::<Apart<WarpRoles<128, 128>>>().role((), |_, (), ()| {}).role((), |_, (), ()| {}).run();
}

fn main() {}
