//! The accepted neighbour of `fail/producer_computes_with_cp_async.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, LoadStore, Shared, Stages, kernel};

#[kernel]
fn compute_a_stage_by_stores(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2, LoadStore>>>) {
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
