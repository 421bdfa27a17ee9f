//! On hardware 100 elements are no whole number for each of 64 threads: who copies the rest, and
//! who may read it?
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

#[kernel]
fn share_out(block: Block<64>, input: Tiles<i32, 100>, shared: Shared<Stages<[i32; 100], 1, CpAsync, ThreadScope>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
