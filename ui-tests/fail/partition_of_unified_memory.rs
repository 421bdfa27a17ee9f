//! On hardware the stages would have no barriers, and the roles would not wait for each other.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn share_without_barriers(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
