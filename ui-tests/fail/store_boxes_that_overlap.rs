//! On hardware two blocks would write what two boxes share.
#![forbid(unsafe_code)]
use tilepipe::{
    Block, Extents2, Halo2, Outputs, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorMut, TensorTile, kernel,
};

type Extents = Extents2<8, 32>;
type Room = TensorTile<f32, Extents, Swizzle128>;

#[kernel]
fn double(
    block: Block<64>,
    input: Tensor<f32, Extents, Swizzle128>,
    out: TensorMut<f32, Halo2<8, 24, 1, 4>, Swizzle128>,
    shared: Shared<(Stages<Room, 2, TensorMap>, Outputs<Room, 2>)>,
) {
    let (stages, outputs) = shared.split();
    let boxes = input.for_block(&block);
    let _ = (stages, outputs, boxes, out);
}

fn main() {}
