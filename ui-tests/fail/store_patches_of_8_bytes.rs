//! On hardware a swizzle moves pieces of 16 bytes.
#![forbid(unsafe_code)]
use tilepipe::{
    Block, Extents2, Outputs, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile, kernel,
};

type Extents = Extents2<8, 32>;
type Room = TensorTile<f32, Extents, Swizzle128>;

#[kernel]
fn double(
    block: Block<64>,
    input: Tensor<f32, Extents, Swizzle128>,
    out: TensorMut<f32, Extents, Swizzle128>,
    shared: Shared<(Stages<Room, 2, TensorMap>, Outputs<Room, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| {
        draft.fill_patches::<2, 2>(&block, |_, _| [[0.0; 2]; 2]);
        let _ = tile;
    });
}

fn main() {}
