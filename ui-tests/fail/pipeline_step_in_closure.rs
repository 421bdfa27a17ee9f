//! On hardware a pipeline step that only some threads take leaves the others waiting for them.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_in_some(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    block.threads(|t| {
        if t.rank() == 0 {
            let _ = pipe.wait();
        }
    });
}

fn main() {}
