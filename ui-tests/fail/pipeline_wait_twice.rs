//! On hardware the second wait is for the next stage, at thread scope without a word: the code
//! reads one tile and believes it is the other.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_twice(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let pipe = pipe.acquire().copy(input.tile(1)).commit();
    let (pipe, _first) = pipe.wait();
    let (_pipe, _second) = pipe.wait();
}

fn main() {}
