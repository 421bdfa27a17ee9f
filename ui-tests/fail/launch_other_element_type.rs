//! On hardware the kernel reads 4-byte elements where the buffer has 8-byte ones: wrong values,
//! without an error.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn sum(block: Block<128>, input: Tiles<i32, 128>) {
    let _ = (block, input);
}
fn start(stream: &Stream, input: &Buffer<f64>) -> Result<(), Error> {
    sum::launch(stream, 1, input)
}

fn main() {}
