//! On hardware a source of one's own may start no copy, or one that nobody waits for: the tile is
//! stale.
#![forbid(unsafe_code)]
use tilepipe::{Block, Fill, Shared, Stages, kernel};

struct Nothing;
impl Fill<[i32; 128]> for Nothing {}
#[kernel]
fn fill_with_nothing(block: Block<128>, shared: Shared<Stages<[i32; 128], 1>>) {
    let _ = shared.pipeline(&block).acquire().copy(Nothing).commit();
}

fn main() {}
