//! On hardware a view of all output tiles inside a closure lets every thread write every element: a
//! race.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut2D, kernel};

#[kernel]
fn pick_a_tile_in_each_thread(block: Block<128>, mut out: TilesMut2D<f32, 8, 16>) {
    let mut results = out.for_block(&block);
    block.threads(|t| results.get_mut(t.rank()).set_nth(&t, 0, 1.0));
}

fn main() {}
