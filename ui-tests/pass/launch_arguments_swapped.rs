//! The accepted neighbour of `fail/launch_arguments_swapped.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn negate(block: Block<128>, input: Tiles<i32, 128>, out: TilesMut<i32, 128>) {
    let _ = (block, input, out);
}
fn start(stream: &Stream, input: &Buffer<i32>, out: &mut Buffer<i32>) -> Result<(), Error> {
    negate::launch(stream, 1, input, out)
}

fn main() {}
