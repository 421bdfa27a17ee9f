//! On hardware there is nothing to publish before `wait`: threads would read copies that are under
//! way.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

type OwnCopies = Stages<[i32; 128], 1, CpAsync, ThreadScope>;
#[kernel]
fn publish_early(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OwnCopies, OwnCopies)>) {
    let (a, b) = shared.split();
    let (_, tile) = a.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let pipe = b.pipeline(&block).acquire().copy(input.tile(1)).commit();
    let _ = pipe.publish(tile);
}

fn main() {}
