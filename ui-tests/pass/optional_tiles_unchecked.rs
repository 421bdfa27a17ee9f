//! The accepted neighbour of `fail/optional_tiles_unchecked.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn read_checked(
    block: Block<128>,
    input: Tiles<i32, 128>,
    mut out: TilesMut<i32, 128>,
    shared: Shared<Stages<Optional<[i32; 128]>, 2>>,
) {
    let mut results = out.for_block(&block);
    let source = (input.tiles() > 1).then(|| input.tile(1));
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(source).commit().wait();
    if let Some(tile) = tile.get() {
        let result = results.get_mut(0);
        block.threads(|t| result.set(&t, tile[t.rank()]));
    }
    let _ = pipe.release(tile);
}

fn main() {}
