//! On hardware a copy that each thread starts for itself is started 128 times, or by half of the
//! threads.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn copy_in_threads(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| {
            block.threads(|_| {
                let _ = size_of_val(&stage);
            });
            stage.copy(input.tile(index))
        },
        |_tile, _index| {},
    );
}

fn main() {}
