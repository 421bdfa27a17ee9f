//! On hardware nothing writes a constant; a launch has no need of the only reference.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};
use tilepipe_host::{Error, Stream};

#[kernel]
fn filter(block: Block<128>, weights: Constant<[f32; 9]>) {
    let _ = (block, weights[8]);
}
fn start(stream: &Stream) -> Result<(), Error> {
    let mut weights = [0.5; 9];
    weights[0] = 1.0;
    filter::launch(stream, 1, &mut weights)
}

fn main() {}
