//! The accepted neighbour of `fail/queue_tile_released_into_another_queue.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

type OneTile = Stages<[i32; 128], 1>;
#[kernel]
fn mix_up(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<(OneTile, OneTile)>) {
    let (a, b) = shared.split();
    let (a, first) = a.queue(&block).copy(input.tile(0)).wait_prior();
    let (b, second) = b.queue(&block).copy(input.tile(1)).wait_prior();
    let (_, _) = (a.release(first), b.release(second));
}

fn main() {}
