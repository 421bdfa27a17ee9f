//! On hardware a linear copy would fill a tile that is read as if it were swizzled.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Extents2, Shared, Stages, Swizzle128, Tensor, TensorTile, TilesMut2D, kernel};

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Extents2<8, 32>, Swizzle128>,
    mut out: TilesMut2D<f32, 8, 32>,
    shared: Shared<Stages<TensorTile<f32, Extents2<8, 32>, Swizzle128>, 2, Bulk>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    });
}

fn main() {}
