//! The accepted neighbour of `fail/ready_released_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn give_back_each_tile(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (pipe, first) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let pipe = pipe.release(first).acquire().copy(input.tile(1)).commit();
    let (pipe, second) = pipe.wait();
    let _ = pipe.release(second);
}

fn main() {}
