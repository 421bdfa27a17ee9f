//! On hardware the other role's threads have zeros in place of the values.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn capture_kept_values(block: Block<128>) {
    let ((ranks, ()), ()) = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.keep(ranks)
        })
        .role((), |_, _, ()| {})
        .run();
    let _ = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role((), |_, _, ()| drop(&ranks)).run();
}

fn main() {}
