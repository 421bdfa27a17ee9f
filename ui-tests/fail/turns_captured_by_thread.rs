//! A thread alone would wait for a turn that nobody passes to it.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, Turns, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<128, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<384>, shared: Shared<(Partitioned<Stages<Rows, 2, TensorMap>>, Turns<2>)>) {
    let (stages, turns) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 256>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role(turns, |group, consumer, turns| {
            let Ok(tile) = consumer.wait() else { return };
            let (_end, tile) = tile.hold();
            let mut turns = turns.turns(&group);
            let product = || Product::of(&group, &tile, &tile);
            group.threads(|_| {
                let _ = group.products_in_turn(&mut turns, product(), product(), |_| ());
            });
        })
        .run();
}

fn main() {}
