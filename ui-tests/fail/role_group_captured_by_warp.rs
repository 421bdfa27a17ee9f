//! On hardware a barrier that some warps of the role reach and others do not hangs.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_some_warps(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            group.warps(|warp| {
                if warp.rank() == 0 {
                    group.sync()
                }
            })
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
