//! On hardware a unified pipeline's steps wait for the other role's threads, which never take them.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn acquire_in_a_role(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ =
        block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| drop(pipe.acquire())).role((), |_, _, ()| {}).run();
}

fn main() {}
