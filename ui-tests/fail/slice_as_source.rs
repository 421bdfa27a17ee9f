//! On hardware a copy from a local reads the frame after it is gone, from an address that may not
//! even be global memory.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn copy_from_local(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let local = [1_i32; 128];
    let _ = shared.pipeline(&block).acquire().copy(&local).commit();
}

fn main() {}
