//! On hardware only some threads combine values at a time: the others never reach a barrier in the
//! operation.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn sync_while_adding(block: Block<128>) {
    let ranks = block.map(|t| t.rank() as u32);
    let _ = block.reduce(&ranks, |a, b| {
        block.sync();
        a + b
    });
}

fn main() {}
