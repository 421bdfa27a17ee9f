//! On hardware thread 0 of each role would write element 0 of a tile: a data race.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn hand_it_to_both(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role(&mut out, |group, _, out| drop(out.for_role(&group)))
        .role(&mut out, |group, _, out| drop(out.for_role(&group)))
        .run();
}

fn main() {}
