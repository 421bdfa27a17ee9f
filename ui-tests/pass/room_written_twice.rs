//! The accepted neighbour of `fail/room_written_twice.rs`.
#![forbid(unsafe_code)]
use tilepipe::product::OperandTile;
use tilepipe::role::{Partitioned, Product, SharedFactors, WarpRoles};
use tilepipe::{Block, Extents2, Shared, Stages, Swizzle128, TensorMap, bf16, kernel};

type Rows = OperandTile<bf16, Extents2<64, 64>, Swizzle128>;

#[kernel]
fn misuse(block: Block<256>, shared: Shared<(Partitioned<Stages<Rows, 2, TensorMap>>, SharedFactors<Rows, 2>)>) {
    let (stages, rooms) = shared.split();
    let _ = block
        .partition::<WarpRoles<128, 128>>()
        .pipeline(stages)
        .role((), |_, _, ()| {})
        .role(rooms, |group, consumer, rooms| {
            let Ok(tile) = consumer.wait() else { return };
            let (_end, tile) = tile.hold();
            let (sums, ..) = group.product(Product::of(&group, &tile, &tile));
            let [room, _] = rooms.factor_rooms(&group);
            let first = room.write(&group, &sums).wait(&group);
            let second = first.release(&group).write(&group, &sums);
            let _ = second;
        })
        .run();
}

fn main() {}
