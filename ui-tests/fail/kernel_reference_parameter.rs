//! On hardware a reference of the host is no address of the device.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn take_a_reference(block: Block<128>, scale: &f32) {
    let _ = (block, scale);
}

fn main() {}
