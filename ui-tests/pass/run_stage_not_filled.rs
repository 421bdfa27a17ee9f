//! The accepted neighbour of `fail/run_stage_not_filled.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_each_stage(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 96>>().pipeline(shared);
    let _ = roles.for_each(tiles.len(), |stage, i| stage.copy(tiles.get(i)), (), |_, run, ()| run.for_each(|_, _| {}));
}

fn main() {}
