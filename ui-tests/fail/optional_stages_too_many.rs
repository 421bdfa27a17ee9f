//! On hardware the register that remembers which stages were left empty has 32 bits.
#![forbid(unsafe_code)]
use tilepipe::{Block, Optional, Shared, Stages, kernel};

#[kernel]
fn too_many(block: Block<128>, shared: Shared<Stages<Optional<[i32; 128]>, 33>>) {
    let _ = shared.pipeline(&block);
}

fn main() {}
