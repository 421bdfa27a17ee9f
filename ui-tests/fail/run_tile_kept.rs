//! On hardware the reference points into a stage that the producers refill.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn keep_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 96>>().pipeline(shared);
    let _ = roles.for_each_tile(&tiles, (), |_, run, ()| {
        let mut last = None;
        run.for_each(|tile, _| last = Some(tile));
    });
}

fn main() {}
