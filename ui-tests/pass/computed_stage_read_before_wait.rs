//! The accepted neighbour of `fail/computed_stage_read_before_wait.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, LoadStore, Shared, Stages, TilesMut, kernel};

#[kernel]
fn in_time(block: Block<128>, mut out: TilesMut<i32, 128>, shared: Shared<Stages<[i32; 128], 2, LoadStore>>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let (_pipe, tile) = shared.pipeline(&block).acquire().fill(&block, |_, e| e as i32).commit().wait();
    block.threads(|t| dst.set(&t, tile[127 - t.rank()]));
}

fn main() {}
