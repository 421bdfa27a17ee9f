//! On hardware the four warps would be those of two warpgroups.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Tile = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<160>, shared: Shared<Partitioned<Stages<Tile, 2, TensorMap>>>) {
    let _ = block
        .partition::<WarpRoles<32, 128>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (_end, tile) = tile.hold();
            let _ = group.product(Product::of(&group, &tile, &tile));
        })
        .run();
}

fn main() {}
