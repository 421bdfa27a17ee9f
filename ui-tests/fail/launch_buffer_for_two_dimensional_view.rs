//! On hardware the kernel would read a width, a height and a pitch that nobody passed.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles2D, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn read_rows(block: Block<128>, input: Tiles2D<f32, 8, 16>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &Buffer<f32>) -> Result<(), Error> {
    read_rows::launch(stream, 1, data)
}

fn main() {}
