//! No block has so much shared memory.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, TilesMut, kernel};

#[kernel(instances(STAGES = [2, 16]))]
pub fn double<const STAGES: usize>(
    block: Block<256>,
    input: Tiles<f32, 16384>,
    mut out: TilesMut<f32, 16384>,
    shared: Shared<Stages<[f32; 16384], STAGES>>,
) {
    let tiles = input.for_block(&block);
    let _ = shared.pipeline(&block).map_tiles(&tiles, &mut out.for_block(&block), |tile, dst| {
        block.threads(|t| dst.set_each(&t, |element| 2.0 * tile[element]));
    });
}

fn main() {}
