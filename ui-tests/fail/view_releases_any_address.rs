//! On the CPU this would write poison over memory that no pipeline owns, by way of a tile's view.
#![forbid(unsafe_code)]
use tilepipe::group::InBlock;
use tilepipe::pipeline::{AtScope, Unified, View};
use tilepipe::{Block, Stages, kernel};

type Setup = Unified<Stages<[u32; 32], 1>, InBlock<'static, 32>>;

#[kernel]
fn overwrite(block: Block<32>) {
    let owned = Box::new(42_u64);
    <AtScope as View<Setup>>::released((&raw const *owned).cast(), 8);
    block.sync();
}

fn main() {}
