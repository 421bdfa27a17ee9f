//! The accepted neighbour of `fail/role_output_view_handed_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn hand_one_to_each(block: Block<128>, mut out: TilesMut<i32, 128>, mut more: TilesMut<i32, 128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role(&mut out, |group, _, out| drop(out.for_role(&group)))
        .role(&mut more, |group, _, out| drop(out.for_role(&group)))
        .run();
}

fn main() {}
