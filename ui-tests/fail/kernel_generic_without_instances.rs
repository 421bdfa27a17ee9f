//! A generic kernel without its list would build no entry point: each launch would fail.
#![forbid(unsafe_code)]
use tilepipe::{Block, TilesMut, kernel};

#[kernel]
fn no_list<const THREADS: usize>(block: Block<THREADS>, out: TilesMut<i32, THREADS>) {
    let _ = (block, out);
}

fn main() {}
