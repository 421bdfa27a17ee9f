//! On hardware one thread's reference to a local variable is no address for another thread.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_references(block: Block<128>) {
    let local = 7_u32;
    let references = block.map(|_| &local);
    let _ = block.reduce(&references, |a, b| if a < b { a } else { b });
}

fn main() {}
