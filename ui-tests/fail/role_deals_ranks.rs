//! On hardware threads of the other role would be taken for members of this one, with ranks far out
//! of range.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::group::Deal;
use tilepipe::role::{InRole, Of, Role1, WarpRoles};
use tilepipe::{Block, BlockScope, kernel};

#[kernel]
fn diverge(block: Block<64>) {
    let rank = Cell::new(0);
    <InRole<Of<WarpRoles<32, 32>, Role1>> as Deal<BlockScope>>::deal(|_, member| rank.set(member));
    if rank.get() == 0 {
        block.sync();
    }
}

fn main() {}
