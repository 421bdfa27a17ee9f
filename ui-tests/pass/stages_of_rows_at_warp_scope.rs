//! The accepted neighbour of `fail/stages_of_rows_at_warp_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, BlockScope, CpAsync, Shared, Stages, Tile2D, Tiles2D, kernel};

type Rows = Tile2D<f32, 32, 32, 1>;
#[kernel]
fn share_out_rows(
    block: Block<128>,
    input: Tiles2D<f32, 32, 32, 1>,
    shared: Shared<Stages<Rows, 2, CpAsync, BlockScope>>,
) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
