//! On hardware the map would be of an array with no rows.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Swizzle128, Tensor, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn read_boxes(block: Block<128>, input: Tensor<f32, Extents2<8, 32>, Swizzle128>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &Buffer<f32>) -> Result<(), Error> {
    read_boxes::launch(stream, 1, data)
}

fn main() {}
