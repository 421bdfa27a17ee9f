//! The accepted neighbour of `fail/pending_started_while_landed_is_read.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_after_the_reader(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let first = shared.copy(&block, input.tile(0)).wait();
    let _ = block.map(|t| first[127 - t.rank()]);
    let second = first.release(&block).copy(&block, input.tile(1));
    let _ = second.wait().release(&block);
}

fn main() {}
