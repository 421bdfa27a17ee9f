//! At block scope `wait` has published the tile already: on hardware a second barrier would only
//! cost time.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn publish_twice(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let _ = block.map(|t| tile[127 - t.rank()]);
    drop(pipe);
}

fn main() {}
