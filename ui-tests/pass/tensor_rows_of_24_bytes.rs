//! The accepted neighbour of `fail/tensor_rows_of_24_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, NoSwizzle, Shared, Stages, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Extents2<8, 8>, NoSwizzle>,
    mut out: TilesMut2D<f32, 8, 8>,
    shared: Shared<Stages<TensorTile<f32, Extents2<8, 8>, NoSwizzle>, 2, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    });
}

fn main() {}
