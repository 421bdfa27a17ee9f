//! Products would read stages that nobody has waited for.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;
type Both = Partitioned<Stages<(Rows, Rows), 2, TensorMap>>;

#[kernel]
fn misuse(block: Block<256>, shared: Shared<(Both, Both)>) {
    let (first, second) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(first)
        .pipeline(second)
        .role((), |_, _, ()| {})
        .role((), |group, (first, second), ()| {
            let factors = group.stage_factors(&first);
            let _ = group.multiply_by(&factors, second, 1);
            let _ = first;
        })
        .run();
}

fn main() {}
