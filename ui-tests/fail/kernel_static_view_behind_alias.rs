//! Behind an alias the attribute can't see the lifetime, but the entry's own is generative: a view
//! kept beyond its launch would read memory that another launch writes.
#![forbid(unsafe_code)]
use tilepipe::{Block, Tiles, kernel};

type Forever = Tiles<'static, i32, 128>;

#[kernel]
fn take_a_static_view(block: Block<128>, input: Forever) {
    let _ = (block, input);
}

fn main() {}
