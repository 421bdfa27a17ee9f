//! On hardware a bulk copy of such a size, or from such an address, faults or is undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, HaloTile, Halos, Shared, Stages, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Halos<f32, 128, 1>, shared: Shared<Stages<HaloTile<f32, 128, 1>, 2, Bulk>>) {
    let _ = shared.pipeline(&block).for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
}

fn main() {}
