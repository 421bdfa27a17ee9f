//! The accepted neighbour of `fail/map_elements_tile_kept.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{EvenOdd, Partitioned};
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn read_a_tile_of_map_elements(
    block: Block<64>,
    input: Tiles<i32, 32>,
    mut out: TilesMut<i32, 32>,
    shared: Shared<Partitioned<Stages<[i32; 32], 2>>>,
) {
    let first = 1;
    let tiles = input.for_block(&block);
    let pipeline = block.partition::<EvenOdd<32>>().pipeline(shared);
    let _ = pipeline.map_elements(&tiles, &mut out, |tile, element| tile[element] - tile[0] + first);
}

fn main() {}
