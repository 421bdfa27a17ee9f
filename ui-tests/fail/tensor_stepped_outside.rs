//! On hardware the engine could write the shared memory of a block that has ended.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Extents2<8, 32>, Swizzle128>,
    mut out: TilesMut2D<f32, 8, 32>,
    shared: Shared<Stages<TensorTile<f32, Extents2<8, 32>, Swizzle128>, 2, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(boxes.get(0)).commit().wait();
    let dst = results.get_mut(0);
    block.threads(|t| dst.set_each(&t, |row, column| tile[(row, column)]));
    let _ = pipe.release(tile);
}

fn main() {}
