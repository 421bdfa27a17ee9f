//! A part of a swizzled tile that ends within a period: its type would look for elements elsewhere.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, TilesMut2D, kernel};

#[kernel]
pub fn lower_rows(
    block: Block<128>,
    input: Tensor<f32, Extents2<8, 32>, Swizzle128>,
    mut out: TilesMut2D<f32, 4, 32>,
    shared: Shared<Stages<TensorTile<f32, Extents2<8, 32>, Swizzle128>, 1, TensorMap>>,
) {
    let boxes = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&boxes, &mut out.for_block(&block), |tile, dst| {
        let part = tile.part::<4>(4);
        block.threads(|t| dst.set_each(&t, |row, column| part[(row, column)]));
    });
}

fn main() {}
