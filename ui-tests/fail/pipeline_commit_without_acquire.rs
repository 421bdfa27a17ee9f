//! On hardware the commit counts a stage that nobody waited to be empty: it is overwritten while it
//! is read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn commit_nothing(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ = pipe.commit();
}

fn main() {}
