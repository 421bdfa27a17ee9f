//! The accepted neighbour of `fail/tile_of_bytes_at_thread_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Shared, Stages, ThreadScope, Tiles, kernel};

#[kernel]
fn copy_ones_own(
    block: Block<128>,
    input: Tiles<u8, 128>,
    shared: Shared<Stages<[u8; 128], 2, LoadStore, ThreadScope>>,
) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
