//! The accepted neighbour of `fail/pipeline_step_in_closure.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_in_all(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let (_pipe, tile) = pipe.wait();
    block.threads(|t| {
        if t.rank() == 0 {
            let _ = tile[0];
        }
    });
}

fn main() {}
