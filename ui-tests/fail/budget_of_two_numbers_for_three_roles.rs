//! What would the third role have?
#![forbid(unsafe_code)]
use tilepipe::role::{Budget, Registers, WarpRoles3};
use tilepipe::{Block, kernel};

#[kernel]
fn misuse(block: Block<512>) {
    block.partition::<Budget<WarpRoles3<128, 128, 256>, Registers<40, 168>>>().role((), |_, (), ()| {}).role((), |_, (), ()| {}).role((), |_, (), ()| {}).run_last();
}

fn main() {}
