//! On hardware the kernel could end while the copy engine still writes the memory of its block,
//! which another block has by then.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bulk, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_and_end(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, Bulk>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
