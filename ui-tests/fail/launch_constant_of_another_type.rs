//! On hardware the bits of integers would be read as floats, beyond the value's end.
#![forbid(unsafe_code)]
use tilepipe::{Block, Constant, kernel};
use tilepipe_host::{Error, Stream};

#[kernel]
fn filter(block: Block<128>, weights: Constant<[f32; 9]>) {
    let _ = (block, weights[8]);
}
fn start(stream: &Stream) -> Result<(), Error> {
    filter::launch(stream, 1, &[1_u32; 8])
}

fn main() {}
