//! Nothing says how long the tile of 256 threads is.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel(instances((THREADS, LEN) = [(128, 512), (256)]))]
pub fn numbers<const THREADS: usize, const LEN: usize>(block: Block<THREADS>, mut out: TilesMut<u32, LEN>) {
    let mut results = out.for_block(&block);
    let dst = results.get_mut(0);
    block.threads(|t| dst.set_each(&t, |element| element as u32));
}

fn main() {}
