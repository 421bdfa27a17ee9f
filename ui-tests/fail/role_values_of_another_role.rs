//! On hardware each thread would read its own register for a value that the other role computed.
#![forbid(unsafe_code)]
use tilepipe::role::{Of, Role0, Role1, RoleGroup, WarpRoles};

type Tokens<'r, I> = RoleGroup<'r, Of<WarpRoles<64, 64>, I>, 64>;

fn add<'a, 'b>(a: Tokens<'a, Role0>, b: Tokens<'b, Role1>) -> u32 {
    let ranks = a.map(|t| t.rank() as u32);
    b.reduce(&ranks, u32::max)
}

fn main() {}
