//! The threads of a driver's first role that copy nothing would not go along.
#![forbid(unsafe_code)]
use tilepipe::role::{Budget, Partitioned, Registers, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel]
fn misuse(
    block: Block<384>,
    input: Tiles<f32, 256>,
    mut out: TilesMut<f32, 256>,
    shared: Shared<Partitioned<Stages<[f32; 256], 2>>>,
) {
    let tiles = input.for_block(&block);
    let _ = block
        .partition::<Budget<WarpRoles<128, 256>, Registers<40, 200>>>()
        .pipeline(shared)
        .map_tiles(&tiles, &mut out, |group, tile, result| group.threads(|t| result.set(&t, tile[t.rank()])));
}

fn main() {}
