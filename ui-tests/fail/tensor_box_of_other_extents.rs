//! On hardware more bytes would land than the stage has room for.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Extents2<16, 32>, Swizzle128>,
    mut out: TilesMut2D<f32, 8, 32>,
    shared: Shared<Stages<TensorTile<f32, Extents2<8, 32>, Swizzle128>, 2, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    });
}

fn main() {}
