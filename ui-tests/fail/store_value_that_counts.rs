//! On hardware each thread would count for itself: values would depend on who computes them.
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
    let mut count = 0.0;
    results.tile(0).fill(&block, |_, _| {
        count += 1.0;
        count
    });
    let _ = (stages, boxes);
}

fn main() {}
