//! On hardware such roles have no barrier: a thread would add to a bin before it is cleared.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::role::FirstThreads;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn count(block: Block<32>, shared: Shared<Bins<u32, 8, Add>>) {
    let _ = block
        .partition::<FirstThreads<8, 24>>()
        .role(shared, |group, (), memory| drop(memory.bins(&group)))
        .role((), |_, (), ()| {})
        .run();
}

fn main() {}
