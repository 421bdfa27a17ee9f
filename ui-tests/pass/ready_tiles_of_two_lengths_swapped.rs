//! The accepted neighbour of `fail/ready_tiles_of_two_lengths_swapped.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

fn dot(signal: &[i32; 256], window: &[i32; 128], at: usize) -> i32 {
    signal[at + 128] * window[at]
}
#[kernel]
fn tiles_in_order(
    block: Block<128>,
    s: Tiles<i32, 256>,
    w: Tiles<i32, 128>,
    shared: Shared<(Stages<[i32; 256], 1>, Stages<[i32; 128], 1>)>,
) {
    let (a, b) = shared.split();
    let (_, signal) = a.pipeline(&block).acquire().copy(s.tile(0)).commit().wait();
    let (_, window) = b.pipeline(&block).acquire().copy(w.tile(0)).commit().wait();
    let _ = block.map(|t| dot(&signal, &window, t.rank()));
}

fn main() {}
