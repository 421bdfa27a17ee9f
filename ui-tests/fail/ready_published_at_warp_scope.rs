//! On hardware a warp frees a stage behind its own `bar.warp.sync`, while other warps still read
//! what was published.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, Tiles, WarpScope, kernel};

#[kernel]
fn publish_to_all(
    block: Block<128>,
    input: Tiles<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, WarpScope>>,
) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let _ = block.map(|t| tile[127 - t.rank()]);
    drop(pipe);
}

fn main() {}
