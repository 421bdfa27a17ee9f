//! Warpgroups that run apart don't meet where turns are made: one could wait at a barrier that is
//! not there yet.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Apart, Partitioned, Turns, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<384>, shared: Shared<(Partitioned<Stages<Rows, 2, TensorMap>>, Turns<2>)>) {
    let (stages, turns) = shared.split();
    let _ = block
        .partition::<Apart<WarpRoles<128, 256>>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role(turns, |group, _, turns| {
            let _turns = turns.turns(&group);
        })
        .run();
}

fn main() {}
