//! The accepted neighbour of `fail/uniform_closure_parameter.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, Uniform, kernel};

fn run<F: Fn(usize) + Uniform>(block: &Block<'_, 128>, step: F) {
    block.threads(|t| step(t.rank()));
}
#[kernel]
fn pass_a_closure(block: Block<128>) {
    run(&block, |rank| assert!(rank < 128));
}

fn main() {}
