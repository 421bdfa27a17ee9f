//! The accepted neighbour of `fail/sums_read_while_they_are_added_to.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Tile = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;

#[kernel]
fn neighbour(block: Block<256>, shared: Shared<Partitioned<Stages<Tile, 2, TensorMap>>>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (_end, tile) = tile.hold();
            let sums = group.sums(0.0);
            let scores = Product::of(&group, &tile, &tile);
            let younger = Product::onto(sums, &tile, &tile);
            let _ = group.products(scores, younger, |(scores, _, _)| scores.row_max(&group));
        })
        .run();
}

fn main() {}
