//! On hardware the stage has not landed when the wait runs out, and stale data is read.
#![forbid(unsafe_code)]
use core::time::Duration;
use tilepipe::role::{Partitioned, Unready, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn read_all_the_same(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| match consumer.wait_for(Duration::from_micros(1)) {
            Ok(tile) | Err(Unready::TimedOut(tile)) => {
                let _ = tile[0];
            }
            Err(Unready::Closed(_)) => {}
        })
        .run();
}

fn main() {}
