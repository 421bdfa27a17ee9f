//! The accepted neighbour of `fail/budget_of_two_numbers_for_three_roles.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Budget, Registers3, WarpRoles3};
use tilepipe::{Block, kernel};

#[kernel]
fn neighbour(block: Block<512>) {
    block.partition::<Budget<WarpRoles3<128, 128, 256>, Registers3<40, 40, 168>>>().role((), |_, (), ()| {}).role((), |_, (), ()| {}).role((), |_, (), ()| {}).run_last();
}

fn main() {}
