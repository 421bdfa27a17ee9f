//! The accepted neighbour of `fail/roles_as_large_as_the_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::FirstThreads;
use tilepipe::{Block, kernel};

#[kernel]
fn all_but_one_produce(block: Block<128>) {
    let _ = block.partition::<FirstThreads<127, 1>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
