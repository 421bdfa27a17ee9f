//! The accepted neighbour of `fail/budget_of_a_driver.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn neighbour(
    block: Block<384>,
    input: Tiles<f32, 256>,
    mut out: TilesMut<f32, 256>,
    shared: Shared<Partitioned<Stages<[f32; 256], 2>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(shared)
        .map_tiles(&tiles, &mut out, |group, tile, result| group.threads(|t| result.set(&t, tile[t.rank()])));
}

fn main() {}
