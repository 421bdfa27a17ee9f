//! On hardware threads that take another path never reach the barrier in `wait`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn wait_in_a_closure(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let pending = shared.copy(&block, input.tile(0));
    let _ = block.map(move |t| if t.rank() < 64 { pending.wait()[0] } else { 0 });
}

fn main() {}
