//! On hardware formatting runs code that `fmt::Arguments` hides: here it writes a cell, so that the
//! threads disagree.
#![forbid(unsafe_code)]
use std::{cell::Cell, fmt};
use tilepipe::{Block, kernel};

struct Counter(Cell<usize>);

impl fmt::Display for Counter {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}
#[kernel]
fn format_in_threads(block: Block<128>) {
    let counter = Counter(Cell::new(0));
    let text = format_args!("{counter}");
    block.threads(|_| drop(text.to_string()));
}

fn main() {}
