//! The accepted neighbour of `fail/role_captures_pipeline.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, Shared, Stages, kernel};

#[kernel]
fn acquire_at_block_level(block: Block<128>, shared: Shared<Stages<[i32; 128], 2>>) {
    let pipe = shared.pipeline(&block);
    let _ = block.partition::<WarpRoles<32, 96>>().role((), |_, _, ()| {}).role((), |_, _, ()| {}).run();
    let _ = pipe.acquire();
}

fn main() {}
