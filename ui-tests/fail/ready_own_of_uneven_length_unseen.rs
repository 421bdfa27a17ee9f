//! On hardware 100 elements are no whole number for each of 64 threads. Here a function other than
//! the kernel reads them, which the library alone sees.
#![forbid(unsafe_code)]
use tilepipe::{Block, Ready, Shared, Stages, Thread, Tiles, TilesMut, kernel};

type Stage<'b> = tilepipe::pipeline::Unified<Stages<[i32; 100], 1>, tilepipe::group::InBlock<'b, 64>>;

fn first<'b>(tile: &Ready<'_, Stage<'b>>, t: &Thread<'_, 'b, 64>) -> i32 {
    tile.own(t)[0]
}

#[kernel]
fn share_out(block: Block<64>, input: Tiles<i32, 100>, mut out: TilesMut<i32, 64>, shared: Shared<Stages<[i32; 100], 1>>) {
    let mut results = out.for_block(&block);
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, first(&tile, &t)));
}

fn main() {}
