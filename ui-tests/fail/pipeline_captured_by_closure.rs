//! On hardware threads that can reach the pipeline from diverged code can call its steps there, and
//! hang.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn look_at_the_pipeline(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    block.threads(|_| {
        let _ = size_of_val(&pipe);
    });
}

fn main() {}
