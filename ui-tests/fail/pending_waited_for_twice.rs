//! The second wait is for no copy: on hardware it returns at once, and which tile it returned
//! nobody can say.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_again(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let pending = shared.copy(&block, input.tile(0));
    let first = pending.wait();
    let second = pending.wait();
    let _ = block.map(|t| first[t.rank()] + second[t.rank()]);
}

fn main() {}
