//! On hardware one access moves 16 bytes: four doubles are 32, and would be torn apart.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, Vec4, kernel};

#[kernel]
fn copy_vectors(block: Block<128>, input: Tiles<Vec4<f64>, 128>) {
    let _ = (block, input);
}

fn main() {}
