//! On hardware thread 0 of each role would write element 0 of a tile: a data race.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_from_both_roles(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| drop(out.for_role(&group)))
        .role((), |group, _, ()| drop(out.for_role(&group)))
        .run();
}

fn main() {}
