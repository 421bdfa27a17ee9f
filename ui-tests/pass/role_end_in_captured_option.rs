//! The accepted neighbour of `fail/role_end_in_captured_option.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::{Partitioned, WarpRoles};
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn keep_it_inside(block: Block<128>, shared: Shared<Partitioned<Stages<[i32; 128], 2>>>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .pipeline(shared)
        .role((), |_, producer, ()| {
            let kept = Some(producer);
            drop(kept);
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
