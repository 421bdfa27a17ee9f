//! The accepted neighbour of `fail/tensor_halo_of_8_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Halo2, NoSwizzle, Shared, Stages, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

type Around = Halo2<8, 24, 1, 4>;

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Around, NoSwizzle>,
    mut out: TilesMut2D<f32, 8, 24>,
    shared: Shared<Stages<TensorTile<f32, Around, NoSwizzle>, 2, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |row, column| tile[(row + 1, column + 4)]));
    });
}

fn main() {}
