//! As `fail/bulk_tile_of_24_bytes.rs`, by hand in a scope: the copy faults, or is undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Tiles<u8, 24>, shared: Shared<Stages<[u8; 24], 2, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
