//! On hardware the kept reference shows the stage when another tile is copied into it.
#![forbid(unsafe_code)]
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

type OwnCopies = Stages<[i32; 128], 2, CpAsync, ThreadScope>;
#[kernel]
fn keep_the_first(block: Block<128>, input: Tiles<i32, 128>, shared: Shared<OwnCopies>) {
    let mut kept = None;
    let _ = shared.pipeline(&block).published().for_each(
        input.tiles(),
        |stage, i| stage.copy(input.tile(i)),
        |tile, _i| kept = Some(&tile[0]),
    );
    let _ = kept;
}

fn main() {}
