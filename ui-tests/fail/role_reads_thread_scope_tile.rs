//! On hardware thread 0 of the second role would read what thread 0 of the block copied, without
//! waiting for it.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

#[kernel]
fn read_anothers_part(
    block: Block<128>,
    input: Tiles<i32, 128>,
    shared: Shared<Stages<[i32; 128], 1, CpAsync, ThreadScope>>,
) {
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            group.threads(|t| {
                let _ = tile.own(&t)[0];
            })
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
