//! The accepted neighbour of `fail/uniform_trait_object.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Uniform, kernel};

trait Step {
    fn step(&self);
}
impl Step for i32 {
    fn step(&self) {}
}

#[kernel]
fn call_through_an_object(block: Block<128>) {
    let object: &(dyn Step + Uniform) = &1;
    block.threads(|_| object.step());
}

fn main() {}
