//! On hardware rows of 64 bytes would share the lines that the swizzle permutes.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Extents2<8, 16>, Swizzle128>,
    mut out: TilesMut2D<f32, 8, 16>,
    shared: Shared<Stages<TensorTile<f32, Extents2<8, 16>, Swizzle128>, 2, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    });
}

fn main() {}
