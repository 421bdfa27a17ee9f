//! Each thread would count for itself.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Shared, Stages, kernel};

#[kernel]
fn count(block: Block<128>, shared: Shared<Stages<[i32; 128], 2, LoadStore>>) {
    let mut count = 0;
    let (pipe, tile) = shared
        .pipeline(&block)
        .acquire()
        .fill(&block, |_, _| {
            count += 1;
            count
        })
        .commit()
        .wait();
    let _ = pipe.release(tile);
}

fn main() {}
