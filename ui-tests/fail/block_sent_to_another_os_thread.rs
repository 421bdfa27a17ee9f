//! On the CPU a block's steps from two OS threads have no order; on hardware there is no such
//! thing.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn spawn(block: Block<128>) {
    std::thread::scope(|scope| {
        scope.spawn(|| block.sync());
    });
}

fn main() {}
