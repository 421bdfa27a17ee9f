//! On hardware the map would be of two dimensions, and the copy of three.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents3, Swizzle128, Tensor, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

#[kernel]
fn read_boxes(block: Block<128>, input: Tensor<f32, Extents3<1, 8, 32>, Swizzle128>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &Buffer2D<f32>) -> Result<(), Error> {
    read_boxes::launch(stream, 1, data)
}

fn main() {}
