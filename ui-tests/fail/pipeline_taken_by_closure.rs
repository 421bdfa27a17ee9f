//! On hardware some threads would take the pipeline's next step and others not.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn take_it_in_some_threads(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut slot = Some(shared.pipeline(&block));
    block.threads(|t| {
        if t.rank() < 5 {
            let pipe = slot.take().unwrap();
            let _ = pipe.acquire().copy(input.tile(0)).commit();
        }
    });
}

fn main() {}
