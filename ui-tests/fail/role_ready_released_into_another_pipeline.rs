//! On hardware the other pipeline's stage is refilled before anybody has read it.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
type There = Partitioned<Stages<[i32; 128], 2>>;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn release_into_the_other(block: Block<128>, shared: Shared<(There, There)>) {
    let (one, two) = shared.split();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(one)
        .pipeline(two)
        .role((), |_, _, ()| {})
        .role((), |_, (one, mut two), ()| {
            let Ok(tile) = one.wait() else { return };
            two = tile.release();
            two.quit();
        })
        .run();
}

fn main() {}
