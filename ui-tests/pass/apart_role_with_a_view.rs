//! The accepted neighbour of `fail/apart_role_with_a_view.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, TilesMut, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn neighbour(block: Block<384>, mut out: TilesMut<u32, 256>, shared: Shared<Partitioned<Stages<Rows, 2, TensorMap>>>) {
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role(&mut out, |_, _, _| {})
        .run();
}

fn main() {}
