//! A rank of another block, or of another group of the same size, would name elements that this
//! thread did not copy.
#![forbid(unsafe_code)]
use tilepipe::group::InBlock;
use tilepipe::pipeline::Ready;
use tilepipe::{CpAsync, Stages, Thread, ThreadScope};

type Tiles<'b> = tilepipe::pipeline::Unified<Stages<([i32; 32], [i32; 32]), 1, CpAsync, ThreadScope>, InBlock<'b, 32>>;

fn first<'b, 'c>(tile: &Ready<'_, Tiles<'b>>, thread: &Thread<'_, 'c, 32>) -> i32 {
    tile.own_of::<1>(thread)[0]
}

fn main() {}
