//! On hardware the block's code would branch on each thread's rank, and one warp alone would wait
//! at the barrier.
#![forbid(unsafe_code)]
use core::cell::Cell;
use tilepipe::group::{Deal, InBlock};
use tilepipe::{Block, BlockScope, kernel};

#[kernel]
fn diverge(block: Block<64>) {
    let rank = Cell::new(0);
    <InBlock<'_, 64> as Deal<BlockScope>>::deal(|_, member| rank.set(member));
    if rank.get() < 32 {
        block.sync();
    }
}

fn main() {}
