//! The accepted neighbour of `fail/launch_two_outputs_of_one_buffer.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn write_both(block: Block<128>, low: TilesMut<i32, 128>, high: TilesMut<i32, 128>) {
    let _ = (block, low, high);
}
fn start(stream: &Stream, low: &mut Buffer<i32>, high: &mut Buffer<i32>) -> Result<(), Error> {
    high.write(&[0; 256])?;
    write_both::launch(stream, 1, &mut *low, high.slice_mut(128..)?)
}

fn main() {}
