//! On hardware the released stage is the next copy's: the kept reference shows another tile, or
//! half of one.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

#[kernel]
fn keep_published(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<[i32; 128], 2, CpAsync, ThreadScope>>,
) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let (pipe, tile) = pipe.publish(tile);
    let kept = &tile[..];
    let _ = pipe.release(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, kept[127 - t.rank()]));
}

fn main() {}
