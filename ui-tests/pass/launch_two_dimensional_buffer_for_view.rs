//! The accepted neighbour of `fail/launch_two_dimensional_buffer_for_view.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles2D, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

#[kernel]
fn read_elements(block: Block<128>, input: Tiles2D<f32, 8, 16>) {
    let _ = (block, input);
}
fn start(stream: &Stream, data: &Buffer2D<f32>) -> Result<(), Error> {
    read_elements::launch(stream, 1, data)
}

fn main() {}
