//! On hardware two copies of an end count the same arrivals twice.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn clone_the_end(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let again = producer.clone();
            (producer.quit(), again.quit()).0
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
