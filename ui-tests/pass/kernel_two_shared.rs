//! The accepted neighbour of `fail/kernel_two_shared.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

type OneStage = Stages<[i32; 128], 1>;
#[kernel]
fn take_a_pair(block: Block<128>, shared: Shared<(OneStage, OneStage)>) {
    let (a, b) = shared.split();
    let _ = (a.pipeline(&block), b.pipeline(&block));
}

fn main() {}
