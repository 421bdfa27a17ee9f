//! The accepted neighbour of `fail/bulk_halo_of_one_element.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, HaloTile, Halos, Shared, Stages, kernel};

#[kernel]
fn copy_tile(block: Block<128>, input: Halos<f32, 128, 1>, shared: Shared<Stages<HaloTile<f32, 128, 1>, 2, CpAsync>>) {
    let _ = shared.pipeline(&block).for_each(1, |stage, i| stage.copy(input.tile(i)), |_, _| {});
}

fn main() {}
