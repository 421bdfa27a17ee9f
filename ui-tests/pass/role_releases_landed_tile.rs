//! The accepted neighbour of `fail/role_releases_landed_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn release_behind(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let tile = shared.copy(&block, input.tile(0)).wait();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |_, _, ()| {
            let _ = tile[0];
        })
        .role((), |_, _, ()| {})
        .run();
    drop(tile.release(&block));
}

fn main() {}
