//! On hardware consumers would read what another thread copied without waiting for it.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, CpAsync, Shared, Stages, ThreadScope, kernel};

#[kernel]
fn narrow(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2, CpAsync, ThreadScope>>>) {
    let _ =
        block.partition::<WarpRoles<32, 96>>().pipeline(shared).role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
}

fn main() {}
