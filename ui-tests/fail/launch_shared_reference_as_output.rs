//! On hardware another launch may read the buffer while this one writes it.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn fill(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}
fn start(stream: &Stream, out: &Buffer<i32>) -> Result<(), Error> {
    fill::launch(stream, 1, out)
}

fn main() {}
