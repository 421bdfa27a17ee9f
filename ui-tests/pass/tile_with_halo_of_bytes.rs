//! The accepted neighbour of `fail/tile_with_halo_of_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, HaloTile, Halos, Shared, Stages, kernel};

#[kernel]
fn copy_neighbours(
    block: Block<128>,
    input: Halos<u8, 128, 4>,
    shared: Shared<Stages<HaloTile<u8, 128, 4>, 2, CpAsync>>,
) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
