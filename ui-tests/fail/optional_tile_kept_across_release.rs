//! On hardware the released stage is the next copy's: the tile that `get` returned becomes another
//! one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn keep_the_tile(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<Optional<[i32; 128]>, 2>>,
) {
    let mut results = out.for_block(&block);
    let source = (input.tiles() > 1).then(|| input.tile(1));
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(source).commit().wait();
    let kept = tile.get();
    let _ = pipe.release(tile);
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, kept.map_or(0, |tile| tile[t.rank()])));
}

fn main() {}
