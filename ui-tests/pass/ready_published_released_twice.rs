//! The accepted neighbour of `fail/ready_published_released_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

#[kernel]
fn release_again(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile[127 - t.rank()]));
    let pipe = pipe.release(tile);
    let _ = pipe.acquire().copy(input.tile(1)).commit();
}

fn main() {}
