//! On the CPU this would write poison over memory that no pipeline owns, here over a heap object.
#![forbid(unsafe_code)]
use tilepipe::group::{InBlock, Synchronise};
use tilepipe::{Block, BlockScope, kernel};

#[kernel]
fn overwrite(block: Block<32>) {
    let owned = Box::new(42_u64);
    <InBlock<'_, 32> as Synchronise<BlockScope>>::released((&raw const *owned).cast(), 8);
    block.sync();
}

fn main() {}
