//! On hardware threads that take another path never reach the barrier in `wait_prior`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_in_a_closure(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let queue = shared.queue(&block).copy(input.tile(0));
    block.threads(move |t| {
        if t.rank() < 64 {
            let _ = queue.wait_prior();
        }
    });
}

fn main() {}
