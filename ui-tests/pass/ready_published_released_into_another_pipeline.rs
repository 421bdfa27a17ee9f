//! The accepted neighbour of `fail/ready_published_released_into_another_pipeline.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

type OwnCopies = Stages<[i32; 128], 1, CpAsync, ThreadScope>;
#[kernel]
fn mix_up(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OwnCopies, OwnCopies)>) {
    let (a, b) = shared.split();
    let (a, tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (a, first) = a.publish(tile);
    let (b, tile) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    let (b, second) = b.publish(tile);
    let (_, _) = (a.release(first), b.release(second));
}

fn main() {}
