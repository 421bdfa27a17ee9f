//! Tiles that are counted in groups are those of `Panels2`; boxes are counted row by row.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Grouped, Outputs, Shared, Swizzle128, TensorMut, TensorTile, kernel};

type Box = Extents2<32, 32>;

#[kernel]
fn misuse(
    block: Block<128>,
    out: TensorMut<f32, Box, Swizzle128, Grouped<8>>,
    shared: Shared<Outputs<TensorTile<f32, Box, Swizzle128>, 2>>,
) {
    let mut ring = shared.outputs(&block, out);
    for i in 0..ring.len() {
        ring.tile(i).fill(&block, |_, _| 1.0);
    }
}

fn main() {}
