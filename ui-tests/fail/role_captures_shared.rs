//! On hardware the memory would have another use while one role fills it.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn copy_in_a_role(block: Block<128>, shared: Shared<(Stages<[i32; 128], 1>, Stages<[i32; 128], 1>)>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| drop(shared.split())).role((), |_, _, ()| {}).run();
}

fn main() {}
