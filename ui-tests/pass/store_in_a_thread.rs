//! The accepted neighbour of `fail/store_in_a_thread.rs`.
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
    let results = outputs.outputs(&block, out);
    block.threads(|t| {
        let _ = t.rank();
    });
    let (_, _) = results.finish(&block);
    let _ = (stages, boxes);
}

fn main() {}
