//! On hardware a stage that was committed empty still holds the tile before: it is read as if it
//! were this one.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn read_unchecked(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<Optional<[i32; 128]>, 2>>,
) {
    let mut results = out.for_block(&block);
    let source = (input.tiles() > 1).then(|| input.tile(1));
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(source).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, tile.own(&t)[0]));
    let _ = pipe.release(tile);
}

fn main() {}
