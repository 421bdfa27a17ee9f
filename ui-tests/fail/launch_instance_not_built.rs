//! On hardware a block of another size than the kernel was compiled for skips slots or writes past
//! its tile.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel(instances(THREADS = [128, 256]))]
fn fill<const THREADS: usize>(block: Block<THREADS>, out: TilesMut<i32, THREADS>) {
    let _ = (block, out);
}
fn start(stream: &Stream, out: &mut Buffer<i32>) -> Result<(), Error> {
    fill::launch::<512>(stream, 1, out)
}

fn main() {}
