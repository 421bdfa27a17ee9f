//! On hardware other threads read elements that the kernel is writing.
#![forbid(unsafe_code)]
use tilepipe::{Block, Input, TilesMut, kernel};
use tilepipe_host::cudarc::driver::CudaSlice;
use tilepipe_host::{Error, Stream};

#[kernel]
fn shift(block: Block<128>, input: Input<i32>, out: TilesMut<i32, 128>) {
    let _ = (block, input, out);
}
fn start(stream: &Stream, data: &mut CudaSlice<i32>) -> Result<(), Error> {
    let (input, mut out) = (data.slice(..1024), data.slice_mut(512..));
    shift::launch(stream, 1, &input, &mut out)
}

fn main() {}
