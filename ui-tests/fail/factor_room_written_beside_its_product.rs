//! On hardware the tensor cores may read the old sums, the new ones, or some of each.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, SharedFactor, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<256>, shared: Shared<(Partitioned<Stages<Rows, 2, TensorMap>>, SharedFactor<Rows>)>) {
    let (stages, room) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role(room, |group, consumer, room| {
            let Ok(tile) = consumer.wait() else { return };
            let (_end, tile) = tile.hold();
            let (sums, ..) = group.product(Product::of(&group, &tile, &tile));
            let mut room = room.factor_room(&group);
            let written = room.write(&group, &sums);
            let _ = group.product_beside(Product::of(&group, &tile, written), || {
                let _ = room.write(&group, &sums);
            });
        })
        .run();
}

fn main() {}
