//! On hardware a barrier that some threads of the role reach and others do not hangs.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_some_threads(block: Block<128>) {
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| {
            group.threads(|t| {
                if t.rank() < 16 {
                    group.sync()
                }
            })
        })
        .role((), |_, _, ()| {})
        .run();
}

fn main() {}
