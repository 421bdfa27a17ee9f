//! On hardware a view of all output tiles inside a closure lets every thread write every slot: a
//! race.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn pick_a_tile_in_each_thread(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    block.threads(|t| results.get_mut(t.rank()).set(&t, 1));
}

fn main() {}
