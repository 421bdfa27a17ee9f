//! On hardware a thread would store to an element while others add to it: their adds are lost.
#![forbid(unsafe_code)]
use tilepipe::reduce::Add;
use tilepipe::{Block, Reduction, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn count(block: Block<64>, out: TilesMut<u32, 64>, sums: Reduction<u32, Add>) {
    let _ = (block, out, sums);
}

fn start(stream: &Stream, one: &mut Buffer<u32>, other: &mut Buffer<u32>) -> Result<(), Error> {
    let _ = (&one, &other);
    count::launch(stream, 1, &mut *one, &mut *one)
}

fn main() {}
