//! On hardware the collectives' memory has a slot of 16 bytes for each warp: a larger value
//! overwrites the next.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_rows(block: Block<128>) {
    let rows = block.map(|_| [1.0_f64; 8]);
    let _ = block.reduce(&rows, |a, _| a);
}

fn main() {}
