//! On hardware a bulk copy of such a size, or from such an address, faults or is undefined.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Tiles<u8, 24>, shared: Shared<Stages<[u8; 24], 2, Bulk>>) {
    let _ = shared.pipeline(&block).for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
}

fn main() {}
