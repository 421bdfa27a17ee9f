//! On hardware the stage is handed back before results are stored: a tile that is kept would be
//! refilled while threads read it.
#![forbid(unsafe_code)]
use tilepipe::role::{EvenOdd, Partitioned};
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn keep_a_tile_of_map_elements(
    block: Block<64>,
    input: Tiles<i32, 32>,
    mut out: TilesMut<i32, 32>,
    shared: Shared<Partitioned<Stages<[i32; 32], 2>>>,
) {
    let mut last = None;
    let tiles = input.for_block(&block);
    let pipeline = block.partition::<EvenOdd<32>>().pipeline(shared);
    let _ = pipeline.map_elements(&tiles, &mut out, |tile, element| {
        last.replace(tile).map_or(0, |before| before[element])
    });
}

fn main() {}
