//! The accepted neighbour of `fail/consumer_reads_after_time_out.rs`.
#![forbid(unsafe_code)]
use core::time::Duration;
use tilepipe::role::{Partitioned, Unready, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn read_in_time(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, _, ()| {})
        .role((), |_, consumer, ()| match consumer.wait_for(Duration::from_micros(1)) {
            Ok(tile) => {
                let _ = tile[0];
            }
            Err(Unready::TimedOut(_) | Unready::Closed(_)) => {}
        })
        .run();
}

fn main() {}
