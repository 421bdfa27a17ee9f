//! The accepted neighbour of `fail/order_of_a_tensor_output.rs`.
#![forbid(unsafe_code)]
use tilepipe::{
    Block, Consecutive, Extents2, Outputs, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile, kernel,
};

type Box = Extents2<8, 32>;
type Room = TensorTile<f32, Box, Swizzle128>;

#[kernel]
fn copy_boxes(
    block: Block<128>,
    input: Tensor<f32, Box, Swizzle128>,
    out: TensorMut<f32, Box, Swizzle128, Consecutive>,
    shared: Shared<(Stages<Room, 2, TensorMap>, Outputs<Room, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.in_order::<Consecutive>(&block);
    let mut results = outputs.outputs(&block, out);
    let _ = stages.pipeline(&block).map_tiles(&boxes, &mut results, |tile, draft| draft.store(tile));
}

fn main() {}
