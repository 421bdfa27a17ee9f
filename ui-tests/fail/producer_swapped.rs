//! On hardware each pipeline would count the other's stages, and both hang.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
type There = Partitioned<Stages<[i32; 128], 2>>;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn swap_ends(block: Block<128>, shared: Shared<(There, There)>) {
    let (one, two) = shared.split();
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(one)
        .pipeline(two)
        .role((), |_, (mut one, mut two), ()| {
            core::mem::swap(&mut one, &mut two);
            (one.quit(), two.quit()).0
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
