//! The accepted neighbour of `fail/tile_of_odd_bytes.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Element, LoadStore, Shared, Stages, Tiles, kernel};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Sample(u16);

impl Element for Sample {}
#[kernel]
fn copy_threes(block: Block<128>, input: Tiles<Sample, 3>, shared: Shared<Stages<[Sample; 3], 1, LoadStore>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
