//! On hardware each thread would add to its own registers, and not to the sums of the other role.
#![forbid(unsafe_code)]
use tilepipe::product::Sums;
use tilepipe::role::{Of, Product, Role0, Role1, RoleGroup, TileFactor, WarpRoles};

type Tokens<'r, I> = RoleGroup<'r, Of<WarpRoles<128, 128>, I>, 128>;

fn add<'a, 'b, F>(one: Tokens<'a, Role0>, other: Tokens<'b, Role1>, tile: &F) -> Sums<'b, F::Width, 128>
where
    F: TileFactor<'b>,
{
    let sums = one.sums(0.0);
    other.product(Product::onto(sums, tile, tile)).0
}

fn main() {}
