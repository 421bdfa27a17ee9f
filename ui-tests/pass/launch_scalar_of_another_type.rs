//! The accepted neighbour of `fail/launch_scalar_of_another_type.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};
use tilepipe_host::{Error, Stream};

#[kernel]
fn scale(block: Block<128>, factor: u32) {
    let _ = (block, factor);
}
fn start(stream: &Stream) -> Result<(), Error> {
    scale::launch(stream, 1, 2_u32)
}

fn main() {}
