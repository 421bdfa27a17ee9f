//! The accepted neighbour of `fail/uniform_slice_iterator.rs`.
#![forbid(unsafe_code)]
use tilepipe::{Block, kernel};

#[kernel]
fn iterate_over_numbers(block: Block<128>) {
    let numbers = [1, 2];
    let each = numbers.iter();
    block.threads(|_| each.clone().for_each(|number| assert!(*number < 3)));
}

fn main() {}
