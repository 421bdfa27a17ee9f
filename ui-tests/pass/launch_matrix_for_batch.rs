//! The accepted neighbour of `fail/launch_matrix_for_batch.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents3, Swizzle128, Tensor, kernel};
use tilepipe_host::{BufferNd, Error, Stream};

#[kernel]
fn read_boxes(block: Block<128>, input: Tensor<f32, Extents3<1, 8, 32>, Swizzle128>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &BufferNd<f32, 3>) -> Result<(), Error> {
    read_boxes::launch(stream, 1, data)
}

fn main() {}
