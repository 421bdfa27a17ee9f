//! On hardware a step after `quit` takes part in a phase that no longer counts it, and hangs.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn step_after_quit(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            producer.quit();
            let _ = producer.acquire();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
