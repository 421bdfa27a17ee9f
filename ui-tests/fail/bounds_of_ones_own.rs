//! On hardware bounds that one's own type calls checked are not: a copy reads past the end of its
//! view.
#![forbid(unsafe_code)]
use tilepipe::{Block, Bounded, Tiles, hoist_bounds, kernel};

struct Unchecked<'k>(Tiles<'k, i32, 128>);
impl Bounded for Unchecked<'_> {}
#[kernel]
fn hoist_of_ones_own(block: Block<128>, input: Tiles<i32, 128>) {
    hoist_bounds(Unchecked(input), |unchecked| {
        let _ = (&block, unchecked.0.tile(0));
    });
}

fn main() {}
