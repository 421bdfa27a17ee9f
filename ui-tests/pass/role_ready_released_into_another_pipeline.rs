//! The accepted neighbour of `fail/role_ready_released_into_another_pipeline.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
type There = Partitioned<Stages<[i32; 128], 2>>;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn release_into_its_own(block: Block<128>, shared: Shared<(There, There)>) {
    let (one, two) = shared.split();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(one)
        .pipeline(two)
        .role((), |_, _, ()| {})
        .role((), |_, (mut one, two), ()| {
            let Ok(tile) = one.wait() else { return };
            one = tile.release();
            (one.quit(), two.quit()).0
        })
        .run();
}

fn main() {}
