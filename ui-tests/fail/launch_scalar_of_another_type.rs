//! On hardware the bits of a float would be read as an integer.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};
use tilepipe_host::{Error, Stream};

#[kernel]
fn scale(block: Block<128>, factor: u32) {
    let _ = (block, factor);
}
fn start(stream: &Stream) -> Result<(), Error> {
    scale::launch(stream, 1, 2.0_f32)
}

fn main() {}
