//! On hardware the consumers read what the stage held a lap ago.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn skip_a_stage(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 96>>().pipeline(shared);
    let mut kept = None;
    let _ =
        roles.for_each(tiles.len(), |stage, i| kept.replace(stage.copy(tiles.get(i))).unwrap(), (), |_, _run, ()| {});
}

fn main() {}
