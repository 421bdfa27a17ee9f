//! On hardware the kernel could end while the copy engine still writes the memory of its block.
#![forbid(unsafe_code)]
use tilepipe::{Block, Engine, Shared, Stages, Tiles};

pub fn copy_and_end<E: Engine>(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, E>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
