//! A pipeline's steps are the block's.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Zeros, kernel};

#[kernel]
fn step_together(block: Block<32>, shared: Shared<Stages<[u32; 32], 1>>) {
    let pipe = shared.pipeline(&block).acquire().copy(Zeros).commit();
    let (pipe, tile) = pipe.wait();
    block.threads(|t| assert_eq!(tile[t.rank()], 0));
    let _ = pipe.release(tile).acquire().copy(Zeros).commit();
}

fn main() {}
