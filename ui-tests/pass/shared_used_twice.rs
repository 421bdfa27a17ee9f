//! The accepted neighbour of `fail/shared_used_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn one_after_the_other(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let a = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
    let b = a.finish().pipeline(&block).acquire().copy(input.tile(1)).commit();
    let (_, _) = b.wait();
}

fn main() {}
