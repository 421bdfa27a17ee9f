//! On hardware all threads would produce, and nobody would empty a stage.
#![forbid(unsafe_code)]
use tilepipe::role::FirstThreads;
use tilepipe::{Block, kernel};

#[kernel]
fn all_produce(block: Block<128>) {
    let _ = block.partition::<FirstThreads<128, 0>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
