//! On hardware a step on a pipeline that has ended touches shared memory that has another use by
//! then.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn go_on(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ = pipe.finish();
    let _ = pipe.acquire().copy(input.tile(0)).commit();
}

fn main() {}
