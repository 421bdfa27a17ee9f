//! The accepted neighbour of `fail/pipeline_publish_while_nothing_is_held.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

type OwnCopies = Stages<[i32; 128], 1, CpAsync, ThreadScope>;
#[kernel]
fn publish_early(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OwnCopies, OwnCopies)>) {
    let (a, b) = shared.split();
    let _ = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (pipe, tile) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    let _ = pipe.publish(tile);
}

fn main() {}
