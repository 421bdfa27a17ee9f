//! The accepted neighbour of `fail/apart_role_syncs.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn neighbour(block: Block<384>, shared: Shared<Partitioned<Stages<Rows, 2, TensorMap>>>) {
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, _, ()| group.sync())
        .run();
}

fn main() {}
