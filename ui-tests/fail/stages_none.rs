//! On hardware a ring without stages has nowhere to copy to.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn no_stages(block: Block<128>, shared: Shared<Stages<[i32; 128], 0>>) {
    let _ = shared.pipeline(&block);
}

fn main() {}
