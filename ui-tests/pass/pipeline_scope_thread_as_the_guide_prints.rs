//! The accepted neighbour of `fail/pipeline_scope_thread_as_the_guide_prints.rs`.
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
        let (held, tile) = held.publish(tile);
        let result = results.get_mut(batch - 2);
        block.threads(|t| result.set(&t, tile[(t.rank() + 1) % 128]));
        pipe = held.release(tile).acquire().copy(input.tile(batch)).commit();
    }
}

fn main() {}
