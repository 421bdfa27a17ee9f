//! The accepted neighbour of `fail/role_captures_tile_mut.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_the_roles_tile(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role(&mut out, |group, _, out| {
            let mut results = out.for_role(&group);
            let dst = results.get_mut(0);
            group.threads(|t| {
                let _ = dst.element(&t, 0);
            });
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
