//! On hardware the wait behind the branches would be for a copy that one of them never started.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn start_perhaps(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let pipe = if input.tiles() > 3 { pipe.acquire().copy(input.tile(3)).commit() } else { pipe };
    let _ = pipe.wait();
}

fn main() {}
