//! The accepted neighbour of `fail/roles_even_odd_of_another_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::EvenOdd;
use tilepipe::{Block, kernel};

#[kernel]
fn count_half_the_block(block: Block<128>) {
    let _ = block.partition::<EvenOdd<64>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
