//! A tile's view says what of it may be read.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Zeros, kernel};

#[kernel]
fn publish(block: Block<32>, shared: Shared<Stages<[u32; 32], 1, CpAsync, ThreadScope>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Zeros).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    block.threads(|t| assert_eq!(tile[31 - t.rank()], 0));
    let _ = pipe.release(tile);
}

fn main() {}
