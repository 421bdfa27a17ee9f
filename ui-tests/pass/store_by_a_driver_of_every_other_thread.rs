//! The accepted neighbour of `fail/store_by_a_driver_of_every_other_thread.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Bulk, BulkTilesMut, Outputs, Shared, Stages, Tiles, kernel};

#[kernel]
fn double(
    block: Block<64>,
    input: Tiles<u32, 256>,
    out: BulkTilesMut<u32, 256>,
    shared: Shared<(Partitioned<Stages<[u32; 256], 2, Bulk>>, Outputs<[u32; 256], 2>)>,
) {
    let (stages, outputs) = shared.split();
    let tiles = input.for_block(&block);
    let roles = block.partition::<WarpRoles<32, 32>>().pipeline(stages);
    let _ = roles.map_tiles(&tiles, (outputs, out), |group, tile, draft| {
        draft.fill(group, |i| 2 * tile[i]);
    });
}

fn main() {}
