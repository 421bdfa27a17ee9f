//! On hardware contents of one's own may claim less memory than their copies write.
#![forbid(unsafe_code)]
use tilepipe::{Block, Contents, Shared, Stages, kernel};

struct Small([i32; 128]);
impl Contents for Small {}
#[kernel]
fn stage_it(block: Block<128>, shared: Shared<Stages<Small, 1>>) {
    let _ = (block, shared);
}

fn main() {}
