//! The thread's token and the tile's pipeline are of one block.
#![forbid(unsafe_code)]
use tilepipe::group::InBlock;
use tilepipe::pipeline::Ready;
use tilepipe::{CpAsync, Stages, Thread, ThreadScope};

type Tiles<'b> = tilepipe::pipeline::Unified<Stages<([i32; 32], [i32; 32]), 1, CpAsync, ThreadScope>, InBlock<'b, 32>>;

fn first<'b>(tile: &Ready<'_, Tiles<'b>>, thread: &Thread<'_, 'b, 32>) -> i32 {
    tile.own_of::<1>(thread)[0]
}

fn main() {}
