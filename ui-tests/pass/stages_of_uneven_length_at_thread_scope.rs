//! The accepted neighbour of `fail/stages_of_uneven_length_at_thread_scope.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

#[kernel]
fn share_out(block: Block<64>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 1, CpAsync, ThreadScope>>) {
    let _ = shared.pipeline(&block).acquire().copy(input.tile(0)).commit();
}

fn main() {}
