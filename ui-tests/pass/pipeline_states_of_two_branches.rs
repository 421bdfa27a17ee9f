//! The accepted neighbour of `fail/pipeline_states_of_two_branches.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, Zeros, kernel};

#[kernel]
fn start_in_any_case(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let pipe = if input.tiles() > 3 {
        pipe.acquire().copy(input.tile(3)).commit()
    } else {
        pipe.acquire().copy(Zeros).commit()
    };
    let _ = pipe.wait();
}

fn main() {}
