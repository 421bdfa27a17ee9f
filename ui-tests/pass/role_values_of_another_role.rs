//! The accepted neighbour of `fail/role_values_of_another_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Of, Role1, RoleGroup, WarpRoles};

type Tokens<'r, I> = RoleGroup<'r, Of<WarpRoles<64, 64>, I>, 64>;

fn add<'b>(b: Tokens<'b, Role1>) -> u32 {
    let ranks = b.map(|t| t.rank() as u32);
    b.reduce(&ranks, u32::max)
}

fn main() {}
