//! The accepted neighbour of `fail/role_captures_output_view.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_from_one_role(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role(&mut out, |group, _, out| drop(out.for_role(&group)))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
