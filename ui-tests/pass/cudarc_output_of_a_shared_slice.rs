//! The accepted neighbour of `fail/cudarc_output_of_a_shared_slice.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::cudarc::driver::CudaSlice;
use tilepipe_host::{Error, Stream};

#[kernel]
fn fill(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}
fn start(stream: &Stream, out: &mut CudaSlice<i32>) -> Result<(), Error> {
    fill::launch(stream, 1, out)
}

fn main() {}
