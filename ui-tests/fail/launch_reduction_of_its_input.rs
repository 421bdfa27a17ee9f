//! On hardware the engine would read what it changes.
#![forbid(unsafe_code)]
use tilepipe::reduce::Max;
use tilepipe::{Block, Extents2, Swizzle128, Tensor, TileReduction, kernel};
use tilepipe_host::{Buffer2D, Error, Stream};

type Box = Extents2<8, 32>;

#[kernel]
fn greatest(block: Block<128>, input: Tensor<i32, Box, Swizzle128>, out: TileReduction<i32, Max, Box, Swizzle128>) {
    let _ = (block, input, out);
}

fn start(stream: &Stream, one: &mut Buffer2D<i32>, other: &mut Buffer2D<i32>) -> Result<(), Error> {
    let _ = &other;
    greatest::launch(stream, 1, &*one, &mut *one)
}

fn main() {}
