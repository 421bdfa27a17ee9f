//! On hardware the joined memory would overlap a part that somebody else still uses.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type OneStage = Stages<[i32; 128], 1>;
type Three = (OneStage, OneStage, OneStage);
#[kernel]
fn join_across(block: Block<128>, shared: Shared<Three>) {
    let (a, b, c) = shared.split();
    let joined: Shared<Three> = Shared::join_three(a, c, b);
    let _ = (block, joined);
}

fn main() {}
