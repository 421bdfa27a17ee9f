//! A misspelt generic parameter would leave the kernel with fewer entry points than its author
//! believes.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(instances(THREAD = [128, 256]))]
fn misspelt<const THREADS: usize>(block: Block<THREADS>, out: TilesMut<i32, THREADS>) {
    let _ = (block, out);
}

fn main() {}
