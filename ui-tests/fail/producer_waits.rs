//! On hardware a producer that waits for its own stage arrives nowhere, and both roles hang.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn wait_as_a_producer(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let _ = producer.wait();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
