//! On hardware the joined memory would overlap a half that somebody else still uses.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type OneStage = Stages<[i32; 128], 1>;
type Pair = (OneStage, OneStage);
#[kernel]
fn join_across(block: Block<128>, shared: Shared<(Pair, Pair)>) {
    let (left, right) = shared.split();
    let (a, _b) = left.split();
    let (_c, d) = right.split();
    let joined: Shared<Pair, _> = Shared::join(a, d);
    let _ = (block, joined);
}

fn main() {}
