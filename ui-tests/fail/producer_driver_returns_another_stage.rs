//! On hardware one stage is filled twice and the other is committed with stale data.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill_another_stage(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let mut before = None;
            let _ = producer.for_each(2, |stage, i| before.replace(stage.copy(input.tile(i))).unwrap());
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
