//! A product with a factor in registers is added to sums, and here are none.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Tile = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<256>, shared: Shared<Partitioned<Stages<Tile, 2, TensorMap>>>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (_end, tile) = tile.hold();
            let (sums, _, _) = group.product(Product::of(&group, &tile, &tile));
            let factor = sums.into_factor::<bf16, _>(&group);
            let _ = Product::of(&group, factor, &tile);
        })
        .run();
}

fn main() {}
