//! The accepted neighbour of `fail/optional_get_at_thread_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Optional, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

type OwnCopies = Stages<Optional<[i32; 128]>, 2, CpAsync, ThreadScope>;
#[kernel]
fn read_all(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>, shared: Shared<OwnCopies>) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(Some(input.tile(0))).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile.get().map_or(0, |tile| tile[127 - t.rank()])));
    let _ = pipe.release(tile);
}

fn main() {}
