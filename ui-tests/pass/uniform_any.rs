//! The accepted neighbour of `fail/uniform_any.rs`.
#![forbid(unsafe_code)]
use std::any::Any;
use tilepipe::{Block, kernel};

#[kernel]
fn downcast(block: Block<128>) {
    let any: &dyn Any = &1_i32;
    let number = *any.downcast_ref::<i32>().unwrap();
    block.threads(|_| assert!(number == 1));
}

fn main() {}
