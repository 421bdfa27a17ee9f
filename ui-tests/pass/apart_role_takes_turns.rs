//! The accepted neighbour of `fail/apart_role_takes_turns.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Apart, Partitioned, Turns, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn neighbour(block: Block<384>, shared: Shared<(Partitioned<Stages<Rows, 2, TensorMap>>, Turns<2>)>) {
    let (stages, turns) = shared.split();
    let turns = turns.prepare(&block);
    let _ = block
        .partition::<Apart<WarpRoles<128, 256>>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role(turns, |group, _, turns| {
            turns.turns(&group).pass(&group);
        })
        .run();
}

fn main() {}
