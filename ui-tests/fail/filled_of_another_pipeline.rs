//! On hardware a copy that is committed to the wrong pipeline is tracked by neither: its reader
//! doesn't wait for it.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn commit_elsewhere(
    block: Block<128>,
    input: Tiles<i32, 128>,
    shared: Shared<(Stages<[i32; 128], 1>, Stages<[i32; 128], 1>)>,
) {
    let (a, b) = shared.split();
    let mut filled = a.pipeline(&block).acquire().copy(input.tile(0));
    let acquired = b.pipeline(&block).acquire();
    filled = acquired.copy(input.tile(1));
    let (_pipe, _tile) = filled.commit().wait();
}

fn main() {}
