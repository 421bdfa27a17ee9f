//! On hardware an acquired stage that nobody commits is one that its readers wait for without end.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn acquire_only(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut pipe = shared.pipeline(&block);
    for _ in 0..8 {
        pipe = pipe.acquire();
    }
}

fn main() {}
