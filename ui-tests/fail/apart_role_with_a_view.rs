//! The copies of a view in the warpgroups would be borrowed at once.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Apart, Partitioned, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, TilesMut, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<384>, mut out: TilesMut<u32, 256>, shared: Shared<Partitioned<Stages<Rows, 2, TensorMap>>>) {
    let _ = block
        .partition::<Apart<WarpRoles<128, 256>>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role(&mut out, |_, _, _| {})
        .run();
}

fn main() {}
