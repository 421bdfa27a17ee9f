//! The accepted neighbour of `fail/launch_shared_reference_as_output.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn fill(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}
fn start(stream: &Stream, out: &mut Buffer<i32>) -> Result<(), Error> {
    fill::launch(stream, 1, out)
}

fn main() {}
