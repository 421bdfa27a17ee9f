//! The accepted neighbour of `fail/sums_of_another_role.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::Sums;
use tilepipe::role::{Of, Product, Role0, Role1, RoleGroup, TileFactor, WarpRoles};

type Tokens<'r, I> = RoleGroup<'r, Of<WarpRoles<128, 128>, I>, 128>;

fn add<'a, 'b, F>(_: Tokens<'a, Role0>, other: Tokens<'b, Role1>, tile: &F) -> Sums<'b, F::Width, 128>
where
    F: TileFactor<'b>,
{
    let sums = other.sums(0.0);
    other.product(Product::onto(sums, tile, tile)).0
}

fn main() {}
