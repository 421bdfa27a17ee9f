//! On hardware the threads of the role without a closure would never reach the barrier at the end.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn forget_the_consumers(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).run();
}

fn main() {}
