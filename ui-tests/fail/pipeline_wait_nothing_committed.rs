//! On hardware this wait returns at once with stale data (thread scope) or never (block scope).
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn wait_for_nothing(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let (_pipe, _tile) = shared.pipeline(&block).wait();
}

fn main() {}
