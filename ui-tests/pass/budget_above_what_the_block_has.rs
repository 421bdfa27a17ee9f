//! The accepted neighbour of `fail/budget_above_what_the_block_has.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Budget, Partitioned, Registers, WarpRoles};
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
        .partition::<Budget<WarpRoles<128, 256>, Registers<24, 240>>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role(&mut out, |group, mut consumer, out| {
            let mut results = out.for_role(&group);
            for i in 0..tiles.len() {
                let Ok(tile) = consumer.wait() else { return };
                let result = results.get_mut(i);
                group.threads(|t| result.set(&t, tile[t.rank()]));
                consumer = tile.release();
            }
        })
        .run();
}

fn main() {}
