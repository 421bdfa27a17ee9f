//! On hardware every thread would make a pipeline of all stages: each copies over the others'
//! tiles.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn share_with_all(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    block.threads(move |_| {
        let _ = &shared;
        let _ = input.tile(0);
    });
}

fn main() {}
