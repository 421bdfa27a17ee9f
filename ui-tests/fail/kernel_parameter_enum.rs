//! On hardware most bits of a word would be no variant of it.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[derive(Clone, Copy)]
#[repr(u32)]
enum By {
    Two = 2,
    Three = 3,
}

#[kernel]
fn scale(block: Block<128>, by: By) {
    let _ = (block, by as u32, By::Two, By::Three);
}

fn main() {}
