//! The accepted neighbours of `fail/bulk_step_outside_of_any_engine.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, ByHand, Engine, Shared, Stages, Tiles};

pub fn by_hand<E: ByHand>(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, E>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

pub fn inside<E: Engine>(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2, E>>) {
    let _ = shared.with_pipeline(&block, |pipe| {
        let _ = pipe.acquire().copy(input.tile(0)).commit();
    });
}

fn main() {}
