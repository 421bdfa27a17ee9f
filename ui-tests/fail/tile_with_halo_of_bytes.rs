//! On hardware a halo of one byte moves every tile to an odd address, from which `cp.async` copies
//! nothing.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, HaloTile, Halos, Shared, Stages, kernel};

#[kernel]
fn copy_neighbours(
    block: Block<128>,
    input: Halos<u8, 128, 1>,
    shared: Shared<Stages<HaloTile<u8, 128, 1>, 2, CpAsync>>,
) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
