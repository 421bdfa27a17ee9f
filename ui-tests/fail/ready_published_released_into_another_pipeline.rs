//! On hardware the other pipeline's count is off by one: it refills a stage that is still read.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

type OwnCopies = Stages<[i32; 128], 1, CpAsync, ThreadScope>;
#[kernel]
fn mix_up(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OwnCopies, OwnCopies)>) {
    let (a, b) = shared.split();
    let (a, tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (_a, first) = a.publish(tile);
    let (b, tile) = b.pipeline(&block).acquire().copy(input.tile(1)).commit().wait();
    let (b, _second) = b.publish(tile);
    let _ = b.release(first);
}

fn main() {}
