//! On hardware an asynchronous copy reads its source at any time until it is waited for: a source
//! that is written meanwhile is copied half old, half new.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, TilesMut, kernel};

#[kernel]
fn copy_from_output(block: Block<128>, mut out: TilesMut<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let mut results = out.for_block(&block);
    let _ = shared.pipeline(&block).acquire().copy(results.get_mut(0)).commit();
}

fn main() {}
