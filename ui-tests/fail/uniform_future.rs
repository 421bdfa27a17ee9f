//! On hardware the future holds the block: polled by some threads it is a barrier that others never
//! reach.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn capture_a_future(block: Block<128>) {
    let future = async {
        block.sync();
    };
    let future = &future;
    block.threads(|_| {
        let _captured = future;
    });
}

fn main() {}
