//! On hardware the stage may be filled again before its rows are multiplied.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Tile = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<256>, shared: Shared<Partitioned<Stages<Tile, 3, TensorMap>>>) {
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |group, consumer, ()| {
            let Ok(tile) = consumer.wait() else { return };
            let (end, left) = tile.hold();
            let Ok((end, right)) = end.wait() else { return };
            let rows = group.factor_rows(&left);
            let _ = end.release(left);
            let _ = group.product(Product::of_rows(&group, &rows, &right));
        })
        .run();
}

fn main() {}
