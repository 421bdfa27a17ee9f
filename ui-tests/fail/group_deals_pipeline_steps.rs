//! On hardware half a warp would release and refill a stage that the other half still reads.
#![forbid(unsafe_code)]
use core::cell::RefCell;
use tilepipe::group::{Deal, InBlock};
use tilepipe::{Block, BlockScope, Shared, Stages, Zeros, kernel};

#[kernel]
fn step_alone(block: Block<32>, shared: Shared<Stages<[u32; 32], 1>>) {
    let pipe = RefCell::new(Some(shared.pipeline(&block).acquire().copy(Zeros).commit()));
    <InBlock<'_, 32> as Deal<BlockScope>>::deal(|_, rank| {
        if rank < 16 {
            let (p, tile) = pipe.take().unwrap().wait();
            *pipe.borrow_mut() = Some(p.release(tile).acquire().copy(Zeros).commit());
        }
    });
}

fn main() {}
