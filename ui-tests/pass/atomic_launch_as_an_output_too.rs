//! The accepted neighbour of `fail/atomic_launch_as_an_output_too.rs`.
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
    count::launch(stream, 1, &mut *one, &mut *other)
}

fn main() {}
