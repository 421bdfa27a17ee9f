//! The guide's `with_staging_scope_thread`, step by step: a fast thread copies its element of the
//! next tile into the stage in which slow threads still read this one. On an H200 it gives wrong
//! results.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

type OwnCopies = Stages<[i32; 128], 2, CpAsync, ThreadScope>;
#[kernel]
fn staging(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>, shared: Shared<OwnCopies>) {
    let mut results = out.for_block(&block);
    let pipe = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let mut pipe = pipe.acquire().copy(input.tile(1)).commit();
    for batch in 2..input.tiles() {
        let (held, tile) = pipe.wait();
        block.sync();
        let result = results.get_mut(batch - 2);
        block.threads(|t| result.set(&t, tile[(t.rank() + 1) % 128]));
        pipe = held.release(tile).acquire().copy(input.tile(batch)).commit();
    }
}

fn main() {}
