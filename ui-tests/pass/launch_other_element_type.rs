//! The accepted neighbour of `fail/launch_other_element_type.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn sum(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = (block, input);
}
fn start(stream: &Stream, input: &Buffer<i32>) -> Result<(), Error> {
    sum::launch(stream, 1, input)
}

fn main() {}
