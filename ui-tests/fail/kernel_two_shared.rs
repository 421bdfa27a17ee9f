//! On hardware two views of a block's one shared memory overlap from its first byte on.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn take_two(block: Block<128>, a: Shared<OneStage>, b: Shared<OneStage>) {
    let _ = (a.pipeline(&block), b.pipeline(&block));
}

fn main() {}
