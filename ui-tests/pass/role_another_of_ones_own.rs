//! The accepted neighbour of `fail/role_another_of_ones_own.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Another, Role0, Role1};

fn takes<A: Another<B>, B>() {}

fn main() {
    takes::<Role0, Role1>();
}
