//! On hardware a lane's token that another closure can use is another thread's rank in its hands: a
//! race.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn keep_the_lane(block: Block<128>) {
    block.warps(|warp| {
        let _ = warp.map(|lane| lane);
    });
}

fn main() {}
