//! On hardware the kernel takes whatever lies behind the last argument for its output's address.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn negate(block: Block<128>, input: Tiles<i32, 128>, out: TilesMut<i32, 128>) {
    let _ = (block, input, out);
}
fn start(stream: &Stream, input: &Buffer<i32>) -> Result<(), Error> {
    negate::launch(stream, 1, input)
}

fn main() {}
