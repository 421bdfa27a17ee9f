//! The accepted neighbour of `fail/bulk_at_thread_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

#[kernel]
fn copy_own(
    block: Block<128>,
    input: Tiles<i32, 512>,
    mut out: TilesMut<i32, 512>,
    shared: Shared<Stages<[i32; 512], 2, CpAsync, ThreadScope>>,
) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut results, |tile, dst| {
        block.threads(|t| dst.set_each(&t, |e| tile.own(&t)[e % 4]));
    });
}

fn main() {}
