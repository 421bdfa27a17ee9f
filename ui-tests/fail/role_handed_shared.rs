//! On hardware the role would use memory whose readers it can't wait for.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn hand_over_memory(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().role(shared, |_, _, memory| drop(memory)).role((), |_, _, ()| {}).run();
}

fn main() {}
