//! The accepted neighbour of `fail/grouped_order_of_boxes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Outputs, Shared, Swizzle128, TensorMut, TensorTile, kernel};

type Box = Extents2<32, 32>;

#[kernel]
fn neighbour(
    block: Block<128>,
    out: TensorMut<f32, Box, Swizzle128>,
    shared: Shared<Outputs<TensorTile<f32, Box, Swizzle128>, 2>>,
) {
    let mut ring = shared.outputs(&block, out);
    for i in 0..ring.len() {
        ring.tile(i).fill(&block, |_, _| 1.0);
    }
}

fn main() {}
