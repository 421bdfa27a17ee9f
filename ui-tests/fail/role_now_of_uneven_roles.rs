//! On hardware threads would read different clocks and take different paths.
#![forbid(unsafe_code)]
use tilepipe::role::EvenOdd;
use tilepipe::{Block, kernel};

#[kernel]
fn ask_halves(block: Block<128>) {
    let _ = block
        .partition::<EvenOdd<64>>()
        .role((), |group, _, ()| {
            let _ = group.now();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
