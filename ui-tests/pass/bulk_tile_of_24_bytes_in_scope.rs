//! The accepted neighbour of `fail/bulk_tile_of_24_bytes_in_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Tiles<u8, 32>, shared: Shared<Stages<[u8; 32], 2, Bulk>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
