//! The accepted neighbour of `fail/kernel_generic_without_instances.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(instances(THREADS = [128, 256]))]
fn with_a_list<const THREADS: usize>(block: Block<THREADS>, out: TilesMut<i32, THREADS>) {
    let _ = (block, out);
}

fn main() {}
