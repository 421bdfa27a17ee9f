//! On hardware a stage that is being filled holds bytes of the old tile, of the new one, or of
//! both.
#![forbid(unsafe_code)]
use tilepipe::{Block, Shared, Stages, Tiles, kernel};

#[kernel]
fn read_while_filling(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ = shared.pipeline(&block).for_each(
        input.tiles(),
        |stage, index| {
            let _first: i32 = stage[0];
            stage.copy(input.tile(index))
        },
        |_tile, _index| {},
    );
}

fn main() {}
