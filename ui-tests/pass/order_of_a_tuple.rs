//! The accepted neighbour of `fail/order_of_a_tuple.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Consecutive, Shared, Stages, Tiles, kernel};

#[kernel]
fn read(
    block: Block<128>,
    left: Tiles<i32, 128>,
    right: Tiles<i32, 128>,
    shared: Shared<Stages<([i32; 128], [i32; 128]), 2>>,
) {
    let (lefts, rights) = (left.in_order::<Consecutive>(&block), right.in_order::<Consecutive>(&block));
    let _ = shared.pipeline(&block).for_each_tile((&lefts, &rights), |_, _| {});
}

fn main() {}
