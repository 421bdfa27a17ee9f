//! On the CPU this would write poison over a `Vec`'s own pointer and length: out-of-bounds reads
//! and a crash.
#![forbid(unsafe_code)]
use tilepipe::group::{InWarp, Synchronise};
use tilepipe::{Block, WarpScope, kernel};

#[kernel]
fn overwrite(block: Block<32>) {
    let numbers = vec![1_u8, 2, 3];
    let header = (&raw const numbers).cast::<u8>();
    <InWarp<32> as Synchronise<WarpScope>>::released(header, size_of::<Vec<u8>>());
    block.sync();
}

fn main() {}
