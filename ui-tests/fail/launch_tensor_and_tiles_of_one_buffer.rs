//! On hardware the engine and threads would write the same elements.
#![forbid(unsafe_code)]
use tilepipe::{Block, Extents2, Swizzle128, TensorMut, TilesMut2D, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

#[kernel]
fn write_twice(block: Block<128>, boxes: TensorMut<f32, Extents2<8, 32>, Swizzle128>, tiles: TilesMut2D<f32, 8, 16>) {
    let _ = (block, boxes, tiles);
}

fn start(stream: &Stream, one: &mut Buffer2D<f32>, other: &mut Buffer2D<f32>) -> Result<(), Error> {
    let _ = &other;
    write_twice::launch(stream, 1, &mut *one, &mut *one)
}

fn main() {}
