//! On hardware a bulk copy of such a size, or from such an address, faults or is undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tile2D, Tiles2D, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Tiles2D<f32, 8, 10>, shared: Shared<Stages<Tile2D<f32, 8, 10>, 2, Bulk>>) {
    let _ = shared.pipeline(&block).for_each(1, |stage, i| stage.copy(input.tile(0, i)), |_, _| {});
}

fn main() {}
