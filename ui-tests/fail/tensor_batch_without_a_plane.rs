//! On hardware the copy would read one coordinate from a register that nobody has written.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents3, Shared, Stages, Swizzle128, Tensor, TensorMap, TensorTile, kernel};

type Box = Extents3<1, 8, 32>;

#[kernel]
fn read_boxes(
    block: Block<128>,
    input: Tensor<f32, Box, Swizzle128>,
    shared: Shared<Stages<TensorTile<f32, Box, Swizzle128>, 2, TensorMap>>,
) {
    let _ = shared.pipeline(&block).for_each(4, |stage, i| stage.copy(input.at(0, 32 * i as i32)), |_, _| ());
}

fn main() {}
