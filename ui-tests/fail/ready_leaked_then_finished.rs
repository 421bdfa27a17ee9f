//! On hardware the memory would be handed out again while the leaked tile is still read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn leak_a_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let leaked = Box::leak(Box::new(tile));
    let memory = pipe.finish();
    let _ = block.map(|t| leaked[t.rank()]);
    let _ = memory;
}

fn main() {}
