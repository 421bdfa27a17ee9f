//! The accepted neighbour of `fail/shared_joined_from_other_thirds.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type OneStage = Stages<[i32; 128], 1>;
type Three = (OneStage, OneStage, OneStage);
#[kernel]
fn join_again(block: Block<128>, shared: Shared<Three>) {
    let (a, b, c) = shared.split();
    let joined: Shared<Three> = Shared::join_three(a, b, c);
    let _ = (block, joined);
}

fn main() {}
