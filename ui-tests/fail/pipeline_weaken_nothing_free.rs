//! `weaken` takes a free stage: on hardware a stage in flight that counts as released is refilled
//! while it lands.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn weaken_too_much(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().weaken();
}

fn main() {}
