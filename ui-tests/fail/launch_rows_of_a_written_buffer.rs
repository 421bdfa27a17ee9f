//! On hardware the kernel would write the rows of a buffer from which copies are under way.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, TilesMut2D, kernel};
use tilepipe_host::{Buffer, Error, Stream};

#[kernel]
fn reshape(block: Block<128>, input: Tiles<f32, 128>, out: TilesMut2D<f32, 8, 16>) {
    let _ = (block, input, out);
}
fn start(stream: &Stream, data: &mut Buffer<f32>, other: &mut Buffer<f32>) -> Result<(), Error> {
    other.write(&[0.0; 128])?;
    reshape::launch(stream, 1, data.slice(..)?, data.rows_mut(16)?)
}

fn main() {}
