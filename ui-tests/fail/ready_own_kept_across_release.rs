//! On hardware the thread's own next copy overwrites the elements that the kept slices show.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

#[kernel]
fn keep_own(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let own = block.map(|t| tile.own(&t));
    let _ = pipe.release(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, own.get(&t)[0]));
}

fn main() {}
