//! The accepted neighbour of `fail/store_ring_of_every_other_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Extents2, Outputs, Shared, Swizzle128, TensorMut, TensorTile, kernel};

type Box = Extents2<8, 32>;

#[kernel]
fn fill(
    block: Block<64>,
    out: TensorMut<f32, Box, Swizzle128>,
    shared: Shared<Outputs<TensorTile<f32, Box, Swizzle128>, 2>>,
) {
    let _ = block
        .partition::<WarpRoles<32, 32>>()
        .role((), |_, (), ()| ())
        .role((shared, out), |group, (), (outputs, out)| {
            let mut results = outputs.outputs(&group, out);
            results.tile(0).fill(&group, |_, _| 1.0);
        })
        .run();
}

fn main() {}
