//! On hardware what is behind `Any` may be a cell: a value that one thread writes and another one
//! reads.
#![forbid(unsafe_code)]
use std::any::Any;
use std::cell::Cell;
use tilepipe::{Block, kernel};

#[kernel]
fn downcast(block: Block<128>) {
    let cell = Cell::new(1);
    let any: &dyn Any = &cell;
    block.threads(|_| any.downcast_ref::<Cell<i32>>().unwrap().set(2));
}

fn main() {}
