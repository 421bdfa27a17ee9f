//! On hardware the other threads would read one thread's elements, for whose copies they have not
//! waited.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

type OwnCopies = Stages<[i32; 128], 2, CpAsync, ThreadScope>;
#[kernel]
fn hand_around(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<OwnCopies>) {
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let own = block.map(|t| tile.own(&t));
    let _ = block.broadcast(&own, 3);
}

fn main() {}
