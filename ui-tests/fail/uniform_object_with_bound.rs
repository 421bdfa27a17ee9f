//! A trait object says `Uniform` only of what is: on hardware this one is a barrier.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn make_an_object(block: Block<128>) {
    let step = || block.sync();
    let object: &(dyn Fn() + tilepipe::Uniform) = &step;
    block.threads(|_| object());
}

fn main() {}
