//! The accepted neighbour of `fail/order_of_inputs_and_outputs.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Consecutive, Shared, Stages, Striped, Tiles, TilesMut, kernel};

#[kernel]
fn copy(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128, Striped, Consecutive>,
    shared: Shared<Stages<[i32; 128], 2>>,
) {
    let tiles = input.in_order::<Consecutive>(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set(&t, tile[t.rank()]));
    });
}

fn main() {}
