//! The accepted neighbour of `fail/launch_value_for_constant.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};
use tilepipe_host::{Error, Stream};

#[kernel]
fn filter(block: Block<128>, weights: Constant<[f32; 9]>) {
    let _ = (block, weights[8]);
}
fn start(stream: &Stream) -> Result<(), Error> {
    filter::launch(stream, 1, &[0.5; 9])
}

fn main() {}
