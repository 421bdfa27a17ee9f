//! On hardware the other role's threads have zeros in place of the values.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn hand_to_the_other(block: Block<128>) {
    let ((ranks, ()), ()) = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.keep(ranks)
        })
        .role((), |_, _, ()| {})
        .run();
    let _ = block.partition::<WarpRoles<64, 64>>().role((), |_, _, ()| {}).role(ranks, |_, _, ranks| drop(ranks)).run();
}

fn main() {}
