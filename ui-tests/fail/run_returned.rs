//! On hardware block-level code would wait at barriers that are gone.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn return_the_run(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 96>>().pipeline(shared);
    let _ = roles.for_each_tile(&tiles, (), |_, run, ()| run);
}

fn main() {}
