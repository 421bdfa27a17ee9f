//! On hardware a role would wait at a barrier that counts the other role's threads.
#![forbid(unsafe_code)]
use tilepipe::role::WarpRoles;
use tilepipe::{Block, kernel};

#[kernel]
fn sync_the_other(block: Block<128>) {
    let mut others = None;
    let _ = block
        .partition::<WarpRoles<32, 96>>()
        .role((), |group, _, ()| others = Some(group))
        .role((), |_, _, ()| others.unwrap().sync())
        .run();
}

fn main() {}
