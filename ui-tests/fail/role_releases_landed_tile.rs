//! On hardware the release waits for the block, whose other role never comes.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_in_a_role(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| drop(tile.release(&block)))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
