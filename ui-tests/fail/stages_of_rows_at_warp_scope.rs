//! On hardware a tile with padded rows has no parts of equal size for the warps to copy and read.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tile2D, Tiles2D, WarpScope, kernel};

type Rows = Tile2D<f32, 32, 32, 1>;
#[kernel]
fn share_out_rows(
    block: Block<128>,
    input: Tiles2D<f32, 32, 32, 1>,
    shared: Shared<Stages<Rows, 2, CpAsync, WarpScope>>,
) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
