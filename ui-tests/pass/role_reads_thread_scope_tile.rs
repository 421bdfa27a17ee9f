//! The accepted neighbour of `fail/role_reads_thread_scope_tile.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, Tiles, kernel};

#[kernel]
fn read_ones_own_part(
    block: Block<128>,
    input: Tiles<i32, 128>,
    shared: Shared<Stages<[i32; 128], 1, CpAsync, ThreadScope>>,
) {
    let (_pipe, tile) = shared.pipeline(&block).acquire().copy(input.tile(0)).commit().wait();
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
    block.threads(|t| {
        let _ = tile.own(&t)[0];
    });
}

fn main() {}
