//! The accepted neighbour of `fail/pipeline_taken_by_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn take_it_in_some_blocks(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut slot = Some(shared.pipeline(&block));
    if block.index() < 5 {
        let pipe = slot.take().unwrap();
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    }
}

fn main() {}
