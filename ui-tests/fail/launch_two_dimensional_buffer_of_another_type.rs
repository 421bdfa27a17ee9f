//! On hardware the bits of doubles would be read as single-precision floats, two for each.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles2D, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

#[kernel]
fn read_rows(block: Block<128>, input: Tiles2D<f32, 8, 16>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &Buffer2D<f64>) -> Result<(), Error> {
    read_rows::launch(stream, 1, data)
}

fn main() {}
