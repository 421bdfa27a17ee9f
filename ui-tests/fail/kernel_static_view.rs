//! A view that lasts for ever could be parked (on the CPU in a thread-local) and read when its
//! buffer is long freed.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

#[kernel]
fn take_a_static_view(block: Block<128>, input: Tiles<'static, i32, 128>) {
    let _ = (block, input);
}

fn main() {}
