//! As `fail/pipeline_states_of_two_branches.rs`, with a loop that is left in two ways.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn leave_early(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let pipe = loop {
        if input.tiles() > 3 {
            break pipe.acquire().copy(input.tile(3)).commit();
        }
        break pipe;
    };
    let _ = pipe.wait();
}

fn main() {}
