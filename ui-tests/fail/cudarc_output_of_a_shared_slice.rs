//! On hardware cudarc's copy of the slice reads what the kernel writes.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::cudarc::driver::CudaSlice;
use tilepipe_host::{Error, Stream};

#[kernel]
fn fill(block: Block<128>, out: TilesMut<i32, 128>) {
    let _ = (block, out);
}
fn start(stream: &Stream, out: &CudaSlice<i32>) -> Result<(), Error> {
    fill::launch(stream, 1, out)
}

fn main() {}
