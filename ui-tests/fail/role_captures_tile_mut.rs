//! On hardware thread 0 of each role would write element 0 of the tile: a data race.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn write_the_blocks_tile(block: Block<128>, mut out: TilesMut<i32, 128>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| {
            let _ = dst.len();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
