//! The accepted neighbour of `fail/role_thread_of_another_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::TilesMut;
use tilepipe::role::{Of, Role1, RoleGroup, WarpRoles};

type Tokens<'r, I> = RoleGroup<'r, Of<WarpRoles<64, 64>, I>, 64>;

fn write<'b>(b: Tokens<'b, Role1>, mut out: TilesMut<i32, 64>) {
    let mut results = out.for_role(&b);
    let dst = results.get_mut(0);
    b.threads(|t| dst.set(&t, 1));
}

fn main() {}
