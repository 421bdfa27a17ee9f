//! On hardware the threads of the other role have zeros, and would branch differently around a
//! barrier.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn read_kept_values(block: Block<128>) {
    let ((ranks, ()), ()) = block
        .partition::<WarpRoles<64, 64>>()
        .role((), |group, _, ()| {
            let ranks = group.map(|t| t.rank() as u32);
            group.keep(ranks)
        })
        .role((), |_, _, ()| {})
        .run();
    block.threads(|t| {
        let _ = ranks.get(&t);
    });
}

fn main() {}
