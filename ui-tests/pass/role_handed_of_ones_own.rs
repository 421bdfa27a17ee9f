//! The accepted neighbour of `fail/role_handed_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::Handed;

fn takes<R, H: Handed<R>>(_: H) {}

fn main() {
    takes::<u32, _>(((), ()));
}
