//! The accepted neighbour of `fail/tensor_part_within_a_period.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

#[kernel]
pub fn lower_rows(
    block: Block<128>,
    input: Tensor<f32, Extents2<16, 32>, Swizzle128>,
    mut out: TilesMut2D<f32, 8, 32>,
    shared: Shared<Stages<TensorTile<f32, Extents2<16, 32>, Swizzle128>, 1, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        let part = tile.part::<8>(8);
        block.threads(|t| dst.set_each(&t, |row, column| part[(row, column)]));
    });
}

fn main() {}
