//! On hardware no box is a block's own: a driver could not say which one is meant.
#![forbid(unsafe_code)]
use tilepipe::reduce::{Add, Unordered};
use tilepipe::{
    Block, Extents2, Outputs, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, TileReduction, kernel,
};

type Extents = Extents2<8, 32>;
type Room = TensorTile<f32, Extents, Swizzle128>;

#[kernel]
fn double(
    block: Block<64>,
    input: Tensor<f32, Extents, Swizzle128>,
    out: TileReduction<f32, Unordered<Add>, Extents, Swizzle128>,
    shared: Shared<(Stages<Room, 2, TensorMap>, Outputs<Room, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
        draft.fill(&block, |row, column| 2.0 * tile[(row, column)]);
    });
}

fn main() {}
