//! The accepted neighbour of `fail/run_tile_kept.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep_an_element(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 96>>().pipeline(shared);
    let _ = roles.for_each_tile(&tiles, (), |_, run, ()| {
        let mut last = None;
        run.for_each(|tile, _| last = Some(tile[0]));
    });
}

fn main() {}
