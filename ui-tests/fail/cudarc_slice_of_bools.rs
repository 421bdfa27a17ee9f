//! On hardware the kernel may leave a byte that is no `bool` in the program's slice.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::cudarc::driver::CudaSlice;
use tilepipe_host::{Error, Stream};

#[kernel]
fn fill(block: Block<128>, out: TilesMut<u8, 128>) {
    let _ = (block, out);
}
fn start(stream: &Stream, out: &mut CudaSlice<bool>) -> Result<(), Error> {
    fill::launch(stream, 1, out)
}

fn main() {}
