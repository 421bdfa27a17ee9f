//! On hardware the shuffles wait for lanes that are in the other role.
#![forbid(unsafe_code)]
use tilepipe::role::EvenOdd;
use tilepipe::{Block, kernel};

#[kernel]
fn reduce_halves(block: Block<128>) {
    let _ = block
        .partition::<EvenOdd<64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.reduce(&ranks, u32::max)
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
