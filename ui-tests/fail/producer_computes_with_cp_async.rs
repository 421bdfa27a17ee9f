//! On hardware the arrival of `cp.async` does not wait for ordinary stores, and consumers read
//! stale data.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn compute_a_stage(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |group, producer, ()| {
            let Ok(stage) = producer.acquire() else { return };
            let _ = stage.fill(&group, |_, e| e as i32).commit();
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
