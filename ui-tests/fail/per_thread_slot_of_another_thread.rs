//! On hardware another thread's register can't be read: one value a thread, found with that
//! thread's own token.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn read_the_neighbour(block: Block<128>) {
    let values = block.map(|t| t.rank() as u32);
    let _ = block.map(|t| values.get((t.rank() + 1) % 128));
}

fn main() {}
