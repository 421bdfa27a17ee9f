//! The accepted neighbour of `fail/kept_read_by_block.rs`.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn resume_kept_values(block: Block<128>) {
    let ((ranks, ()), ()) = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.keep(ranks)
        })
        .role((), |_, _, ()| {})
        .run();
    let _ = block
        .partition::<WarpRoles<64, 64>>()
        .role(ranks, |group, _, ranks| drop(group.resume(ranks)))
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
