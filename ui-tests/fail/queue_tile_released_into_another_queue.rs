//! On hardware the other queue's count is off by one: it copies over a tile that is still read.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneTile = Stages<[i32; 128], 1>;
#[kernel]
fn mix_up(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneTile, OneTile)>) {
    let (a, b) = shared.split();
    let (_a, first) = a.queue(&block).copy(input.tile(0)).wait_prior();
    let (b, _second) = b.queue(&block).copy(input.tile(1)).wait_prior();
    let _ = b.release(first);
}

fn main() {}
