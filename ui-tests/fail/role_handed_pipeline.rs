//! On hardware a unified pipeline's steps wait for the other role's threads, which never take them.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn hand_over_a_pipeline(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ = block.partition::<WarpRoles<32, 96>>().role(pipe, |_, _, pipe| drop(pipe)).role((), |_, _, ()| {}).run();
}

fn main() {}
