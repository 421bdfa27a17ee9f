//! On hardware the padding behind each row would be read as data.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

#[kernel]
fn read_elements(block: Block<128>, input: Tiles<f32, 128>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &Buffer2D<f32>) -> Result<(), Error> {
    read_elements::launch(stream, 1, data)
}

fn main() {}
