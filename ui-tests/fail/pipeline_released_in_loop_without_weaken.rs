//! On hardware the second round would fill a stage that slower threads of the first still read: the
//! loop's state has no dirty stage, and so its `acquire` no barrier.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn reversed(block: Block<128>, input: Tiles<u32, 128>, mut out: TilesMut<u32, 128>, shared: Shared<Stages<[u32; 128], 2>>) {
    let (tiles, mut results) = (input.for_block(&block), out.for_block(&block));
    let mut pipe = shared.pipeline(&block);
    for i in 0..tiles.len() {
        let (p, tile) = pipe.acquire().copy(tiles.get(i)).commit().wait();
        let result = results.get_mut(i);
        block.threads(|t| result.set(&t, tile[127 - t.rank()]));
        pipe = p.release(tile);
    }
}

fn main() {}
