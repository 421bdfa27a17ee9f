//! The accepted neighbour of `fail/ready_tiles_at_thread_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

#[kernel]
fn read_all(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile.tiles()[127 - t.rank()]));
    let _ = pipe.release(tile);
}

fn main() {}
