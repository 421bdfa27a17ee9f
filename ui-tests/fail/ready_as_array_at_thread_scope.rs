//! On hardware a function that is given the whole tile reads elements whose copies may not have
//! landed.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, TilesMut, kernel};

fn reverse(tile: &[i32; 128], rank: usize) -> i32 {
    tile[127 - rank]
}
type OwnCopies = Stages<[i32; 128], 2, CpAsync, ThreadScope>;
#[kernel]
fn hand_over(block: Block<128>, input: Tiles<i32, 128>, mut out: TilesMut<i32, 128>, shared: Shared<OwnCopies>) {
    let mut results = out.for_block(&block);
    let (pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let result = results.get_mut(0);
    block.threads(|t| result.set(&t, reverse(&tile, t.rank())));
    let _ = pipe.release(tile);
}

fn main() {}
