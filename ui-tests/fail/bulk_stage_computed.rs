//! On hardware the copy engine's next fill of the stage would not come after these stores.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Bulk, Shared, Stages, kernel};

#[kernel]
fn compute_a_stage(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2, Bulk>>>) {
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
