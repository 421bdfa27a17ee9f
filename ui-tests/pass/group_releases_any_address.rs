//! A pipeline's own tile is released by the pipeline.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Zeros, kernel};

#[kernel]
fn release(block: Block<32>, shared: Shared<Stages<[u64; 32], 1>>) {
    let owned = Box::new(42_u64);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let _ = pipe.release(tile);
    block.sync();
    assert_eq!(*owned, 42);
}

fn main() {}
