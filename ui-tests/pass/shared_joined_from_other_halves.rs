//! The accepted neighbour of `fail/shared_joined_from_other_halves.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type OneStage = Stages<[i32; 128], 1>;
type Pair = (OneStage, OneStage);
#[kernel]
fn join_again(block: Block<128>, shared: Shared<(Pair, Pair)>) {
    let (left, right) = shared.split();
    let (a, b) = left.split();
    let joined: Shared<Pair, _> = Shared::join(a, b);
    let _ = (block, joined, right);
}

fn main() {}
