//! The accepted neighbour of `fail/halos2d_of_another_halo.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, HaloTile2D, Halos2D, Shared, Stages, kernel};

type Wide = HaloTile2D<f32, 8, 32, 2>;
#[kernel]
fn widen(block: Block<128>, input: Halos2D<f32, 8, 32, 2>, shared: Shared<Stages<Wide, 2>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0, 0)).commit();
}

fn main() {}
