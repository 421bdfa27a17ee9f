//! The accepted neighbour of `fail/apart_role_fills_stages.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Apart, Partitioned, Role0, Role1, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn neighbour(block: Block<384>, shared: Shared<Partitioned<Stages<Rows, 2, TensorMap>>>) {
    let _ = block
        .partition::<Apart<WarpRoles<128, 256>>>()
        .pipeline_between(Role0, Role1, shared)
        .role((), |_, _, ()| {})
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
