//! On hardware an input that is the output as well changes while copies of it are under way.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn negate(block: Block<128>, input: Tiles<i32, 128>, out: TilesMut<i32, 128>) {
    let _ = (block, input, out);
}
fn start(stream: &Stream, data: &mut Buffer<i32>) -> Result<(), Error> {
    negate::launch(stream, 1, &*data, &mut *data)
}

fn main() {}
