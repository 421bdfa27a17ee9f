//! The accepted neighbour of `fail/bulk_tile_of_24_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Tiles<u8, 24>, shared: Shared<Stages<[u8; 24], 2, CpAsync>>) {
    let _ = shared.pipeline(&block).for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
}

fn main() {}
