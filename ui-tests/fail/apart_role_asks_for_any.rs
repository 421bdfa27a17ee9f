//! A warpgroup that asks once more would wait for ever.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Apart, Partitioned, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<384>, shared: Shared<Partitioned<Stages<Rows, 2, TensorMap>>>) {
    let _ = block
        .partition::<Apart<WarpRoles<128, 256>>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, _, ()| {
            let first = group.map(|t| t.rank() == 0);
            let _ = group.any(&first);
        })
        .run();
}

fn main() {}
