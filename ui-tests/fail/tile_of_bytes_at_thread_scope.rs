//! On hardware `cp.async` moves at least 4 bytes: a thread can't copy one byte of its own with it.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

#[kernel]
fn copy_ones_own(block: Block<128>, input: Tiles<u8, 128>, shared: Shared<Stages<[u8; 128], 2, CpAsync, ThreadScope>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
