//! The accepted neighbour of `fail/tiles_mut_of_halos.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TileViewMut, kernel};

#[kernel]
fn overlap(block: Block<128>, mut out: TileViewMut<[f32; 128]>) {
    let _ = (block, &mut out);
}

fn main() {}
