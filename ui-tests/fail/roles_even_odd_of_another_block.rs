//! On hardware barriers would count arrivals of threads that the block does not have.
#![forbid(unsafe_code)]
use tilepipe::role::EvenOdd;
use tilepipe::{Block, kernel};

#[kernel]
fn count_the_block(block: Block<128>) {
    let _ = block.partition::<EvenOdd<128>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
