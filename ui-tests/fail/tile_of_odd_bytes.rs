//! On hardware `cp.async` moves 4, 8 or 16 bytes: CUDA C++ copies such a tile synchronously and
//! tells nobody.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Element, Shared, Stages, Tiles, kernel};

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Sample(u16);

impl Element for Sample {}
#[kernel]
fn copy_threes(block: Block<128>, input: Tiles<Sample, 3>, shared: Shared<Stages<[Sample; 3], 1, CpAsync>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
