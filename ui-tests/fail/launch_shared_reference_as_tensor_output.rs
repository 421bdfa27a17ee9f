//! On hardware others would read what the engine writes.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Swizzle128, TensorMut, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

#[kernel]
fn write_boxes(block: Block<128>, boxes: TensorMut<f32, Extents2<8, 32>, Swizzle128>) {
    let _ = (block, boxes);
}

fn start(stream: &Stream, data: &mut Buffer2D<f32>) -> Result<(), Error> {
    write_boxes::launch(stream, 1, &*data)
}

fn main() {}
