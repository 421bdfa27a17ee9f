//! On hardware a stage that is left empty holds an old tile, and this stage's type says that it
//! never is empty.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn fill(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let source = (input.tiles() > 1).then(|| input.tile(1));
    let _ = shared.pipeline(&block).acquire().copy(source).commit();
}

fn main() {}
