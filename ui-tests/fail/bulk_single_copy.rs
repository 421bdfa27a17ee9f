//! On hardware the kernel could end while the copy engine still writes the memory of its block.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn start_one(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1, Bulk>>) {
    let _ = shared.copy(&block, input.tile(0)).wait();
}

fn main() {}
