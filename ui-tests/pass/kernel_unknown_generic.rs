//! The accepted neighbour of `fail/kernel_unknown_generic.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(instances(THREADS = [128, 256]))]
fn well_spelt<const THREADS: usize>(block: Block<THREADS>, out: TilesMut<i32, THREADS>) {
    let _ = (block, out);
}

fn main() {}
