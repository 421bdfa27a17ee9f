//! The accepted neighbour of `fail/element_vec4_of_doubles.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, Vec4, kernel};

#[kernel]
fn copy_vectors(block: Block<128>, input: Tiles<Vec4<f32>, 128>) {
    let _ = (block, input);
}

fn main() {}
