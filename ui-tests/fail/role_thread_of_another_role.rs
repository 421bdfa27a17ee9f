//! On hardware thread 0 of each role would write element 0 of the tile: a data race.
#![forbid(unsafe_code)]
use tilepipe::TilesMut;
use tilepipe::role::{Of, Role0, Role1, RoleGroup, WarpRoles};

type Tokens<'r, I> = RoleGroup<'r, Of<WarpRoles<64, 64>, I>, 64>;

fn write<'a, 'b>(a: Tokens<'a, Role0>, b: Tokens<'b, Role1>, mut out: TilesMut<i32, 64>) {
    let mut results = out.for_role(&b);
    let dst = results.get_mut(0);
    a.threads(|t| dst.set(&t, 1));
}

fn main() {}
