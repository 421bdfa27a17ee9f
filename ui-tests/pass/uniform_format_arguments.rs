//! The accepted neighbour of `fail/uniform_format_arguments.rs`.
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
fn format_for_the_block(block: Block<128>) {
    let counter = Counter(Cell::new(0));
    let text: &str = &format!("{counter}");
    block.threads(|_| drop(text.to_owned()));
}

fn main() {}
