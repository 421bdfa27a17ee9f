//! On hardware there is no such instruction; the least of floats is that of their keys.
#![forbid(unsafe_code)]
use tilepipe::reduce::Min;
use tilepipe::{Bins, Block, Shared, kernel};

#[kernel]
fn least(block: Block<64>, shared: Shared<Bins<f32, 8, Min>>) {
    let _ = (block, shared);
}

fn main() {}
